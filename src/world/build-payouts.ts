import type { ManagedWallets } from '../agents/managed-wallets.ts';
import { LIMITS } from '../kernel/limits.ts';
import type { Teardown } from '../kernel/teardown.ts';
import { findClosedWithMoney, findSurplus } from '../payouts/agent-page-store.ts';
import { emptyClosed } from '../payouts/empty-closed.ts';
import {
  claimPayouts,
  countOpenPayouts,
  hasOpenPayouts,
  savePayoutSubmitted,
} from '../payouts/payout-store.ts';
import { createPayouts, type Payouts } from '../payouts/payouts.ts';
import { sweepSurplus } from '../payouts/sweep-surplus.ts';
import { createChainJudge } from '../proxy/judge-by-chain.ts';
import { startWorkers, type Worker } from '../workers/schedule.ts';
import { walkAgents } from '../workers/walk-agents.ts';
import { usdcDomain } from '../x402/authorization.ts';
import type { ChainParts } from './build-chain.ts';
import type { LedgerParts } from './build-ledger.ts';
import type { World } from './world.ts';

/** USDC out of agent wallets by our own doing: to the developer at a close, to the treasury what nobody claims. */
export function buildPayouts(
  world: World,
  { ledger }: Pick<LedgerParts, 'ledger'>,
  parts: {
    readonly wallets: ManagedWallets | undefined;
    readonly chain: Pick<ChainParts, 'rpc' | 'facilitator'>;
  },
  teardown: Teardown,
): Payouts {
  const { sql, settings, clock, log } = world;
  const { wallets, chain } = parts;
  const { rpc, facilitator } = chain;
  const { usdc, confirmations, reconcileSeconds } = settings.chain;
  const payouts = createPayouts({
    ...{ ledger, clock, log, domain: usdcDomain(usdc) },
    means: wallets && facilitator && { wallets, facilitator },
    judge: createChainJudge({ view: rpc && { rpc, usdc, confirmations }, clock, log }),
    claim: (validBefore, agentId) => claimPayouts(sql, validBefore, agentId),
    submitted: (nonce, txHash) => savePayoutSubmitted(sql, nonce, txHash),
    hasOpen: () => hasOpenPayouts(sql),
  });
  teardown.use('payouts', payouts);
  const waiting = world.metrics.gauge(
    'svc_payouts_waiting',
    'Payouts out of agent wallets that the chain has not shown yet.',
    ['kind'],
  );
  const payDue = async () => {
    await payouts.payDue();
    const open = await countOpenPayouts(sql);
    for (const kind of ['close', 'sweep'] as const) waiting.set(open.get(kind) ?? 0, { kind });
  };
  const everyMs = reconcileSeconds * 1_000;
  const workers: Worker[] = [
    { name: 'pay-out', everyMs, tick: payDue },
    walkAgents({
      ...{ name: 'empty-closed-agents', everyMs },
      find: (after) => findClosedWithMoney(sql, after),
      act: (agent) => emptyClosed({ ...world, ledger }, agent),
    }),
  ];
  const treasury = settings.chain.treasury?.toLowerCase();
  if (treasury !== undefined) {
    workers.push(
      walkAgents({
        ...{ name: 'sweep-wallets', everyMs: everyMs * LIMITS.readingsPerSweep },
        find: (after) => findSurplus(sql, after, treasury),
        act: (surplus) => sweepSurplus({ ...world, ledger, treasury }, surplus),
      }),
    );
  }
  teardown.use('payout workers', startWorkers(world, workers));
  return payouts;
}
