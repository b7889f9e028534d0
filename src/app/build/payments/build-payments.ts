import { IDEMPOTENCY_LIMITS } from '../../../idempotency/limits.ts';
import { startWorkers, type Worker } from '../../../kernel/schedule.ts';
import type { Teardown } from '../../../kernel/teardown.ts';
import { insertEvents } from '../../../ledger/store/agent-funds.ts';
import { createPaidCalls } from '../../../models/providers/x402/pay-from-wallet.ts';
import { PAYMENT_LIMITS } from '../../../payments/limits.ts';
import type { Marketplace } from '../../../payments/proxy/marketplace.ts';
import {
  createPassthroughLog,
  type PassthroughLog,
} from '../../../payments/proxy/passthrough-log.ts';
import {
  insertPassthroughs,
  prunePassthroughs,
} from '../../../payments/proxy/passthrough-store.ts';
import type { PaymentStep } from '../../../payments/proxy/payment-steps.ts';
import { createProxy } from '../../../payments/proxy/proxy.ts';
import { refusePayment } from '../../../payments/proxy/refuse-payment.ts';
import { createCapHitReports } from '../../../payments/proxy/report-cap-hits.ts';
import { VENDOR_TIMES } from '../../../payments/proxy/vendor-call.ts';
import { createRememberedPrices } from '../../../payments/quotes/remembered-prices.ts';
import { createChainJudge } from '../../../payments/reconcile/judge-by-chain.ts';
import type { PaymentAlarm } from '../../../payments/reconcile/payment-alarm.ts';
import { createPaymentMetrics } from '../../../payments/reconcile/payment-metrics.ts';
import type { Reservation } from '../../../payments/reservations/reservation.ts';
import {
  countLive,
  findOwner,
  findReservation,
} from '../../../payments/reservations/reservation-store.ts';
import { settlementEvents } from '../../../payments/reservations/settlement-events.ts';
import { createDestinationGuard } from '../../../platform/egress/destination-guard.ts';
import {
  createGuardedClient,
  type GuardedClient,
} from '../../../platform/egress/guarded-client.ts';
import { createResolveHost } from '../../../platform/egress/resolve-host.ts';
import { createAlarmBell } from '../../../reports/operator/operator-reports.ts';
import type { BudgetReports } from '../../../spend/awareness/budget-left.ts';
import { usdcDomain } from '../../../x402/authorization.ts';
import type { AccountParts } from '../build-accounts.ts';
import type { ChainParts } from '../build-chain.ts';
import type { LedgerParts } from '../build-ledger.ts';
import type { World } from '../world.ts';
import { buildPaymentQueries } from './build-payment-queries.ts';
import { buildReconciler } from './build-reconciler.ts';

export type PaymentParts = {
  readonly accounts: Pick<AccountParts, 'wallets' | 'spendState' | 'payouts'>;
  readonly chain: ChainParts;
  readonly budgets: BudgetReports;
  /** Sends requests to addresses that agents choose. */
  readonly client: GuardedClient;
  readonly marketplace: Marketplace;
  readonly passthroughs: PassthroughLog;
};

/** Builds the payments to vendors: the proxy, and the reconciler, which reads the outcome of each payment from the chain. */
export function buildPayments(
  world: World,
  { ledger, node }: LedgerParts,
  { accounts, chain, budgets, client, marketplace, passthroughs }: PaymentParts,
  teardown: Teardown,
) {
  const { sql, settings, clock, log } = world;
  const { usdc, chainId, confirmations, reconcileSeconds } = settings.chain;
  const view = chain.rpc && { rpc: chain.rpc, usdc, confirmations };
  const metrics = createPaymentMetrics(world.metrics);
  const reload = (nonce: string) => findReservation(sql, nonce);
  const ring = createAlarmBell(world);
  const onAlarm = (alarm: PaymentAlarm) => {
    metrics.alarm(alarm);
    ring(alarm);
  };
  const heard = { onEnd: metrics.ended, onAlarm };
  const deps = { ...world, ledger, reload, ...heard };
  const judge = createChainJudge({ view, clock, log });
  const eventsOf = (row: Reservation, txHash: string) => settlementEvents(sql, row, txHash);
  const paying = {
    ...deps,
    wallets: accounts.wallets,
    spendState: accounts.spendState,
    breaker: chain.breaker,
    judge,
    eventsOf,
    prices: createRememberedPrices(),
    terms: { usdc, chainId },
    domain: usdcDomain(usdc),
    validBeforeSeconds: settings.x402.validBeforeSeconds,
    onStep: (step: PaymentStep) => {
      metrics.passed(step);
      return world.onPaymentStep?.(step);
    },
  };
  const times = world.vendorTimes ?? VENDOR_TIMES;
  const proxy = createProxy({
    ...paying,
    client,
    budgets,
    marketplace,
    callsPerMinute: settings.agentProxyPerMinute,
    passthroughs,
    times,
    refusalOfHold: refusePayment,
    reportCapHit: createCapHitReports({
      clock,
      log,
      findOwner: (agentId) => findOwner(sql, agentId),
      insert: (events) => insertEvents(sql, events),
    }),
  });
  const canPay = view !== undefined && accounts.wallets !== undefined;
  // Paid calls of models have their own connections, so that vendors chosen by agents cannot use up those of models.
  const paidCalls = canPay
    ? createPaidCalls({ ...paying, client: openClient(world, teardown) })
    : undefined;
  const prune = async () => {
    for (let n = 0; n < IDEMPOTENCY_LIMITS.prune.batchesPerTick; n++) {
      const { keptDays: days } = PAYMENT_LIMITS.passthrough;
      const { batch: most } = IDEMPOTENCY_LIMITS.prune;
      if ((await prunePassthroughs(sql, days, most)) < most) break;
    }
  };
  const workers: Worker[] = [
    {
      name: 'write-passthroughs',
      everyMs: PAYMENT_LIMITS.passthrough.writeMs,
      tick: passthroughs.flush,
    },
    { name: 'prune-passthroughs', everyMs: IDEMPOTENCY_LIMITS.prune.everyMs, tick: prune },
  ];
  if (view !== undefined) {
    const reconciler = buildReconciler(world, {
      ledger,
      nodeId: node.nodeId,
      view,
      payouts: accounts.payouts,
      onDone: metrics.reconciled,
      onAudited: metrics.audited,
      ...heard,
      auditRestMs: reconcileSeconds * 1_000 * PAYMENT_LIMITS.audit.readingsPerRound,
    });
    const tick = async () => {
      await reconciler.tick();
      metrics.waiting(await countLive(sql));
    };
    workers.push({ name: 'reconcile-payments', everyMs: reconcileSeconds * 1_000, tick });
  }
  teardown.defer('passthrough lines', passthroughs.flush);
  teardown.use('payment workers', startWorkers(world, workers));
  const { spendState } = accounts;
  const questions = buildPaymentQueries(world, {
    client,
    marketplace,
    spendState,
    chain,
    judge,
    ledger,
    eventsOf,
    passthroughs,
    ...heard,
  });
  return { paidCalls, services: { proxy, ...questions } };
}

/** Opens the log of calls without a payment on the chain. Its rows appear in the history of their agents. */
export const openPassthroughs = ({ log, sql }: World): PassthroughLog =>
  createPassthroughLog({ insert: (lines) => insertPassthroughs(sql, lines), log });

/** Creates the client for requests to addresses that callers choose. */
export function openClient({ settings, clock }: World, teardown: Teardown): GuardedClient {
  const { allowLocalhost, domainAllowlist } = settings.x402;
  const resolve = createResolveHost();
  const guard = createDestinationGuard({ resolve, clock, allowLocalhost, domainAllowlist });
  return teardown.use('guarded client', createGuardedClient({ guard, clock }));
}
