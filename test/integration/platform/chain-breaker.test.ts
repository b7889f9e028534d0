import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLog } from '../../../src/kernel/log.ts';
import { createBreaker } from '../../../src/platform/chain/breaker.ts';
import { CHAIN_LIMITS } from '../../../src/platform/chain/limits.ts';
import { createRpc } from '../../../src/platform/chain/rpc.ts';
import { createFetch } from '../../../src/platform/egress/fetch.ts';
import { type Chain, startChain } from '../../support/chain/chain.ts';
import { USDC_DOMAIN } from '../../support/chain/eip3009.ts';
import { PRICE_FEED, SEQUENCER_FEED } from '../../support/chain/feeds.ts';
import { MULTICALL3 } from '../../support/chain/install.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { ask, startWorld } from '../../support/whole-world.ts';

const HOUR = 3_600;
const outbound = createFetch();

let chain: Chain;
beforeEach(async () => {
  chain = await startChain();
});
afterEach(() => chain[Symbol.asyncDispose]());

/** A breaker whose clock shows the time of the chain. */
async function breakerOf() {
  const { timestamp } = await chain.head();
  const clock = new ManualClock(timestamp * 1_000);
  const breaker = createBreaker({
    rpc: createRpc({ url: chain.url, fetch: outbound.fetch }),
    feeds: { price: PRICE_FEED, sequencer: SEQUENCER_FEED },
    chainId: USDC_DOMAIN.chainId,
    skewSeconds: 30,
    clock,
    log: silentLog,
  });
  const read = async () => {
    await breaker.tick();
    return breaker.check();
  };
  /** Moves chain and clock alike. */
  const travel = async (seconds: number) => {
    await chain.travel(seconds);
    clock.advance(seconds * 1_000);
  };
  return { clock, breaker, read, travel };
}

describe('the circuit breaker on the chain', () => {
  it('the chain circuit breaker is clear while both feeds are healthy', async () => {
    const { breaker, read } = await breakerOf();
    expect(await read()).toMatchObject({ kind: 'clear', reason: 0 });
    expect(breaker.price()).toEqual({ priceUsd: '3000', isStale: false });
  });

  it('the chain circuit breaker is active while the price is old, and clear at the next price', async () => {
    const { breaker, read, travel } = await breakerOf();
    const margin = CHAIN_LIMITS.breaker.priceAgeMarginSeconds;
    await travel(HOUR + margin);
    expect((await read()).kind).toBe('clear');
    await travel(1);
    expect(await read()).toMatchObject({ kind: 'active', reason: 4 });
    expect(breaker.price()?.isStale).toBe(true);
    await chain.setPrice(3_010_00000000n);
    expect((await read()).kind).toBe('clear');
  });

  it('the chain circuit breaker is active after a price jump of more than a fifth, until a round confirms the price', async () => {
    const { read } = await breakerOf();
    await chain.setPrice(3_600_00000000n);
    expect((await read()).kind).toBe('clear');
    await chain.setPrice(2_870_00000000n);
    expect(await read()).toMatchObject({ kind: 'active', reason: 5 });
    await chain.setPrice(2_870_00000000n);
    expect((await read()).kind).toBe('clear');
    await chain.setPrice(0n);
    expect(await read()).toMatchObject({ kind: 'active', reason: 3 });
  });

  it('the chain circuit breaker is active while the sequencer is down, and for an hour afterwards', async () => {
    const { read, travel } = await breakerOf();
    await chain.setSequencer(false);
    expect(await read()).toMatchObject({ kind: 'active', reason: 1 });
    const { timestamp } = await chain.head();
    await chain.setSequencer(true, { startedAt: timestamp });
    expect(await read()).toMatchObject({ kind: 'active', reason: 2 });
    await travel(HOUR);
    await chain.setPrice(3_000_00000000n);
    expect((await read()).kind).toBe('clear');
  });

  it('the chain circuit breaker is active while the chain makes no blocks', async () => {
    const { clock, read } = await breakerOf();
    clock.advance(30_000);
    expect((await read()).kind).toBe('clear');
    clock.advance(1_000);
    expect(await read()).toMatchObject({ kind: 'active', reason: 6 });
  });

  it('the chain circuit breaker is stale without a feed, and reads the feeds without the multicall contract', async () => {
    const { read } = await breakerOf();
    await chain.node.ask('anvil_setCode', MULTICALL3, '0x');
    expect((await read()).kind).toBe('clear');
    await chain.node.ask('anvil_setCode', SEQUENCER_FEED, '0x');
    expect(await read()).toMatchObject({ kind: 'stale', reason: 7 });
  });

  it('the chain circuit breaker is stale at the second consecutive reading that finds no node', async () => {
    const { read } = await breakerOf();
    await read();
    await chain.stop();
    expect((await read()).kind).toBe('clear');
    expect(await read()).toMatchObject({ kind: 'stale', reason: 7 });
  });
});

describe('GET /v1/status', () => {
  const statusOf = async (environment: Record<string, string>) => {
    await using world = await startWorld(environment);
    const { status, body } = await ask(`${world.url}/v1/status`);
    expect(status).toBe(200);
    return body;
  };

  it('GET /v1/status shows a clear circuit breaker, from the first request on', async () => {
    expect(await statusOf({ RPC_URL: chain.url })).toMatchObject({
      overall: 'operational',
      indexer: { status: 'down', lastUpdateTimestamp: null, lagSeconds: null },
      oracle: {
        status: 'operational',
        circuitBreaker: { isActive: false, reason: 0, reasonText: 'none' },
        prices: [{ symbol: 'WETH', priceUsd: '3000', isStale: false }],
      },
      markets: [],
    });
  });

  it('GET /v1/status shows why the circuit breaker is active', async () => {
    await chain.setSequencer(false);
    expect(await statusOf({ RPC_URL: chain.url })).toMatchObject({
      overall: 'degraded',
      oracle: { status: 'degraded', circuitBreaker: { isActive: true, reason: 1 } },
    });
  });

  it('GET /v1/status shows an unknown circuit breaker when the node is unreachable or not configured', async () => {
    await chain.stop();
    for (const environment of [{ RPC_URL: chain.url }, {}]) {
      expect(await statusOf(environment)).toMatchObject({
        overall: 'degraded',
        oracle: {
          status: 'down',
          circuitBreaker: { isActive: true, reason: 7 },
          prices: [],
        },
      });
    }
  });
});
