import { within } from '../../kernel/clock.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { startWorkers } from '../../kernel/schedule.ts';
import type { Teardown } from '../../kernel/teardown.ts';
import { type Breaker, createBreaker } from '../../platform/chain/breaker.ts';
import { createFacilitator, type Facilitator } from '../../platform/chain/facilitator.ts';
import { createRpc, type Rpc } from '../../platform/chain/rpc.ts';
import { createUsdcBalances, type UsdcBalances } from '../../platform/chain/usdc-balances.ts';
import type { World } from './world.ts';

export type ChainParts = {
  /** Undefined: there is no chain, and nothing is ever asked of one. */
  readonly rpc: Rpc | undefined;
  /** The same node for what strangers may ask of it: their questions never take the place of our own. */
  readonly openRpc: Rpc | undefined;
  readonly balances: UsdcBalances;
  readonly breaker: Breaker;
  /** Undefined without a chain or without a key that holds gas. */
  readonly facilitator: Facilitator | undefined;
};

/** The clients of the chain, and the worker that keeps the circuit breaker informed. */
export async function buildChain(world: World, teardown: Teardown): Promise<ChainParts> {
  const { settings, fetch, clock, log } = world;
  const { rpcUrl, chainId, usdc, oracle, sequencerFeed, clockSkewSeconds } = settings.chain;
  const { facilitatorPrivateKey: privateKey } = settings;
  const speak = () => (rpcUrl === undefined ? undefined : createRpc({ url: rpcUrl, fetch }));
  const [rpc, openRpc] = [speak(), speak()];
  const breaker = createBreaker({
    rpc,
    chainId,
    clock,
    log,
    feeds: { price: oracle, sequencer: sequencerFeed },
    skewSeconds: clockSkewSeconds,
  });
  if (rpc !== undefined) {
    // A node that is away must not hold up a start; one that is there lets the first caller pay.
    await within(clock, LIMITS.breaker.firstReadingMs, breaker.tick(), () => undefined);
    const { tickMs } = LIMITS.breaker;
    const worker = { name: 'read-breaker', everyMs: tickMs, tick: breaker.tick };
    teardown.use('breaker', startWorkers(world, [worker]));
  }
  return {
    rpc,
    openRpc,
    breaker,
    balances: createUsdcBalances({ rpc: openRpc, usdc, clock, log }),
    facilitator:
      rpc === undefined || privateKey === undefined
        ? undefined
        : createFacilitator({ rpc, privateKey, usdc, chainId, clock, log }),
  };
}
