import type { ManagedWallets } from '../../../accounts/wallets/managed-wallets.ts';
import { sweepAgents } from '../../../accounts/wallets/sweep-agents.ts';
import { startWorkers, type Worker } from '../../../kernel/schedule.ts';
import type { Teardown } from '../../../kernel/teardown.ts';
import { PAYMENT_LIMITS } from '../../../payments/limits.ts';
import { findClosedWithMoney, findSurplus } from '../../../payments/payouts/agent-page-store.ts';
import { emptyClosed } from '../../../payments/payouts/empty-closed.ts';
import {
  claimPayouts,
  countOpenPayouts,
  hasOpenPayouts,
  savePayoutSubmitted,
} from '../../../payments/payouts/payout-store.ts';
import { createPayouts, type Payouts } from '../../../payments/payouts/payouts.ts';
import { sweepSurplus } from '../../../payments/payouts/sweep-surplus.ts';
import { createChainJudge } from '../../../payments/reconcile/judge-by-chain.ts';
import { usdcDomain } from '../../../x402/authorization.ts';
import type { ChainParts } from '../build-chain.ts';
import type { LedgerParts } from '../build-ledger.ts';
import type { World } from '../world.ts';

/**
 * Builds the payouts of USDC from agent wallets: a closed agent's balance to its developer, and amounts that no agent may claim
 * to the treasury.
 */
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
    ledger,
    clock,
    log,
    domain: usdcDomain(usdc),
    sender: wallets && facilitator && { wallets, facilitator },
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
    for (const kind of ['close', 'sweep', 'transfer'] as const)
      waiting.set(open.get(kind) ?? 0, { kind });
  };
  const everyMs = reconcileSeconds * 1_000;
  const workers: Worker[] = [
    { name: 'pay-out', everyMs, tick: payDue },
    sweepAgents({
      name: 'empty-closed-agents',
      everyMs,
      find: (after) => findClosedWithMoney(sql, after),
      act: (agent) => emptyClosed({ ...world, ledger }, agent),
    }),
  ];
  const treasury = settings.chain.treasury?.toLowerCase();
  if (treasury !== undefined) {
    workers.push(
      sweepAgents({
        name: 'sweep-wallets',
        everyMs: everyMs * PAYMENT_LIMITS.payout.readingsPerSweep,
        find: (after) => findSurplus(sql, after, treasury),
        act: (surplus) => sweepSurplus({ ...world, ledger, treasury }, surplus),
      }),
    );
  }
  teardown.use('payout workers', startWorkers(world, workers));
  return payouts;
}
