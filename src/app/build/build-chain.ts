import { within } from '../../kernel/clock.ts';
import { startWorkers } from '../../kernel/schedule.ts';
import type { Teardown } from '../../kernel/teardown.ts';
import { type Breaker, createBreaker } from '../../platform/chain/breaker.ts';
import { createFacilitator, type Facilitator } from '../../platform/chain/facilitator.ts';
import { CHAIN_LIMITS } from '../../platform/chain/limits.ts';
import { createRpc, type Rpc } from '../../platform/chain/rpc.ts';
import { createUsdcBalances, type UsdcBalances } from '../../platform/chain/usdc-balances.ts';
import type { World } from './world.ts';

export type ChainParts = {
  /** Client of the chain's node. Undefined: no chain is configured, and the server sends no request to one. */
  readonly rpc: Rpc | undefined;
  /**
   * Second client of the same node, for lookups that clients of this server cause: they never take the place of the server's
   * own requests.
   */
  readonly openRpc: Rpc | undefined;
  readonly balances: UsdcBalances;
  readonly breaker: Breaker;
  /** Account that submits transactions. Undefined without a chain or without a key of an account that holds gas. */
  readonly facilitator: Facilitator | undefined;
};

/** Builds the clients of the chain, and starts the worker that keeps the circuit breaker informed. */
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
    // The first reading waits at most `firstReadingMs`: an unreachable node must not delay the start, and a reachable node lets
    // the first caller pay.
    await within(clock, CHAIN_LIMITS.breaker.firstReadingMs, breaker.tick(), () => undefined);
    const { tickMs } = CHAIN_LIMITS.breaker;
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
