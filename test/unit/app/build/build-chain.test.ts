import { describe, expect, it } from 'vitest';
import { buildChain } from '../../../../src/app/build/build-chain.ts';
import type { World } from '../../../../src/app/build/world.ts';
import { readConfig } from '../../../../src/config/config.ts';
import { silentLog } from '../../../../src/kernel/log.ts';
import { Teardown } from '../../../../src/kernel/teardown.ts';
import { CHAIN_LIMITS } from '../../../../src/platform/chain/limits.ts';
import type { Fetch } from '../../../../src/platform/egress/fetch.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const FACILITATOR_PRIVATE_KEY = `0x${'1'.repeat(64)}`;
const RPC_URL = 'http://node.example';

function worldOf(environment: Record<string, string>, fetch: Fetch) {
  const clock = new ManualClock();
  const settings = readConfig({ FACILITATOR_PRIVATE_KEY, ...environment });
  return { clock, world: { settings, clock, fetch, log: silentLog } as unknown as World };
}

describe('the chain of a process', () => {
  it('a process without a chain sends no RPC request and keeps refusing paid requests', async () => {
    let asked = 0;
    const { clock, world } = worldOf({}, () => {
      asked++;
      return Promise.reject(new Error('away'));
    });
    await using teardown = new Teardown();
    const chain = await buildChain(world, teardown);
    clock.advance(60_000);
    expect(await chain.balances.read(`0x${'22'.repeat(20)}`)).toBeNull();
    expect(chain.breaker.check().kind).toBe('stale');
    expect([chain.rpc, chain.openRpc, chain.facilitator]).toEqual(Array(3).fill(undefined));
    expect(asked).toBe(0);
  });

  it('the breaker can still read the chain while strangers’ balance requests use up all their RPC calls', async () => {
    let asked = 0;
    const { clock, world } = worldOf({ RPC_URL }, () => {
      asked++;
      return new Promise(() => {});
    });
    const teardown = new Teardown();
    const built = buildChain(world, teardown);
    clock.advance(CHAIN_LIMITS.breaker.firstReadingMs);
    const { rpc, balances } = await built;
    for (let i = 0; i < 2 * CHAIN_LIMITS.rpc.underWay; i++) {
      balances.read(`0x${i.toString(16).padStart(40, '0')}`).catch(() => {});
    }
    expect(asked).toBe(1 + CHAIN_LIMITS.rpc.underWay);
    rpc?.head().catch(() => {});
    expect(asked).toBe(2 + CHAIN_LIMITS.rpc.underWay);
  });

  it('a node that hangs does not delay the start of a process, which goes on reading the node', async () => {
    let asked = 0;
    const { clock, world } = worldOf({ RPC_URL }, () => {
      asked++;
      return new Promise(() => {});
    });
    const teardown = new Teardown();
    const built = buildChain(world, teardown);
    clock.advance(CHAIN_LIMITS.breaker.firstReadingMs);
    const chain = await built;
    expect(asked).toBe(1);
    expect(chain.facilitator).toBeDefined();
    expect(chain.breaker.check().kind).toBe('stale');
  });

  it('the chain’s breaker is read again and again until the process ends', async () => {
    let asked = 0;
    const { clock, world } = worldOf({ RPC_URL }, async () => {
      asked++;
      throw new Error('away');
    });
    const teardown = new Teardown();
    await buildChain(world, teardown);
    for (let i = 0; i < 3; i++) {
      clock.advance(CHAIN_LIMITS.breaker.tickMs);
      await new Promise(setImmediate);
    }
    expect(asked).toBe(4);
    await teardown[Symbol.asyncDispose]();
    clock.advance(60_000);
    await new Promise(setImmediate);
    expect(asked).toBe(4);
  });

  it('a chain without a gas key has no facilitator', async () => {
    const { world } = worldOf({ RPC_URL, FACILITATOR_PRIVATE_KEY: '' }, () =>
      Promise.reject(new Error('away')),
    );
    await using teardown = new Teardown();
    expect((await buildChain(world, teardown)).facilitator).toBeUndefined();
  });
});
