import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { marginRaw, priceRaw } from '../../kernel/price.ts';
import type { ChargeRow } from '../../ledger/rules/companion.ts';
import { makerOf } from '../../ledger/rules/destination.ts';
import type { Ledger } from '../../ledger/rules/ledger.ts';
import type { SettleRequest } from '../../ledger/rules/requests.ts';
import type { Attributes } from '../../platform/tracing/span.ts';
import type { BudgetLeft, BudgetReports } from '../../spend/awareness/budget-left.ts';
import type { CircuitBreaker } from '../providers/circuit-breaker.ts';
import {
  type AttemptsResult,
  type Delivered,
  distrust,
  type Undelivered,
} from '../routing/attempt-offers.ts';
import { usageAttributes } from '../routing/attempt-span.ts';
import type { Metered } from './clamp-usage.ts';
import type { HeldOrder } from './open-hold.ts';
import type { Price } from './receipt.ts';

export type SettleDeps = {
  readonly breaker: Pick<CircuitBreaker, 'distrusted'>;
  readonly budgets: BudgetReports;
  readonly clock: Clock;
  readonly ledger: Pick<Ledger, 'settle'>;
  readonly log: Log;
};

/** Price of a purchase, and the remaining budget after it. */
export type Settled = Price & Partial<BudgetLeft>;

/** Reads the agent's remaining budget before the settlement. On failure, ends the purchase without a charge and rethrows. */
export async function budgetLeft<R, T>(
  deps: Omit<SettleDeps, 'breaker' | 'log'>,
  granted: HeldOrder<R, T>,
  { span }: Pick<Delivered<T>, 'span'>,
): Promise<BudgetLeft> {
  const { held, spender } = granted;
  const { funds, after, hold } = held;
  try {
    return await deps.budgets.left({ funds, after }, { spender, facts: hold.facts });
  } catch (error) {
    span?.end({ error: 'unsettled' });
    await giveUp(deps, granted);
    throw error;
  }
}

/** Releases the hold without a charge, after a failure of all sources or a bug. */
export async function giveUp<R, T>(
  { clock, ledger }: Pick<SettleDeps, 'clock' | 'ledger'>,
  granted: HeldOrder<R, T>,
  tried?: Undelivered,
): Promise<void> {
  await ledger.settle({
    hold: granted.held.hold,
    account: 'gateway',
    actualRaw: 0n,
    source: tried?.source.provider ?? granted.order.model.id,
    ...(tried !== undefined &&
      tried.attempts > 0 && { charges: chargeRows(clock, granted, tried) }),
  });
}

/**
 * Charges the usage up to now. Usage beyond the possible is recorded as a shortfall and not billed; a source that reports
 * impossible usage backs off. `error` is the class of the failure that broke the answer off.
 */
export async function settle<R, T>(
  deps: SettleDeps,
  granted: HeldOrder<R, T>,
  delivered: Delivered<T>,
  error?: string,
): Promise<Settled> {
  const { span } = delivered;
  span?.stop();
  try {
    return await settleUse(deps, granted, delivered, error);
  } finally {
    // The span of a settled purchase has ended already, so this has no effect on it.
    span?.end({ error: 'unsettled' });
  }
}

async function settleUse<R, T>(
  deps: SettleDeps,
  granted: HeldOrder<R, T>,
  delivered: Delivered<T>,
  brokenBy: string | undefined,
): Promise<Settled> {
  const { budgets, clock, ledger, log } = deps;
  const { hold } = granted.held;
  const { outcome, source, span } = delivered;
  const { paidRaw } = outcome;
  const priceOf = ({ usage, rates = source.rates }: Pick<Metered, 'usage' | 'rates'>) =>
    paidRaw === undefined
      ? priceRaw(usage, rates, source.marginBps)
      : marginRaw(paidRaw, source.marginBps);
  let metered: Metered;
  let end: SettleRequest;
  let cacheDiscountRaw: bigint | undefined;
  try {
    metered = granted.order.meter(outcome, source);
    granted.order.note?.(outcome, source);
    const { uncached: usage } = metered;
    // A payment per call does not depend on a cache.
    if (usage !== undefined && paidRaw === undefined) {
      cacheDiscountRaw = priceOf({ ...metered, usage }) - priceOf(metered);
    }
    end = {
      hold,
      account: source.rail === 'byok' ? 'byok' : 'gateway',
      actualRaw: priceOf(metered.reported ?? metered),
      billableRaw: priceOf(metered),
      source: source.provider,
      charges: chargeRows(clock, granted, delivered, rowUsage(metered, cacheDiscountRaw)),
    };
  } catch (error) {
    await giveUp(deps, granted);
    throw error;
  }
  // A payment per call was agreed in advance, whatever usage is reported.
  if (metered.reported?.isImpossible && paidRaw === undefined) distrust(deps, source);
  const verdict = await ledger.settle(end);
  if (verdict.kind !== 'settled') {
    log.error({ actualRaw: end.actualRaw }, 'a hold was resolved by another process');
    return { chargedRaw: paidRaw ?? 0n };
  }
  const chargedRaw = verdict.chargedRaw + (paidRaw ?? 0n);
  if (span?.isRecorded) {
    span.end({ attributes: spentOn(metered, chargedRaw), error: brokenBy });
  }
  const { spender } = granted;
  const { advisory, remainingRaw } = await budgets.left(verdict, { spender, facts: hold.facts });
  return { chargedRaw, cacheDiscountRaw, remainingRaw, advisory };
}

/** Returns the usage and the ledger's charge for it, as attributes of a span. */
const spentOn = ({ estimated, note, tokens, usage }: Metered, chargedRaw: bigint): Attributes => ({
  ...usageAttributes(usage, { tokens, note: note?.(), isEstimated: estimated }),
  'svc.cost_raw': Number(chargedRaw),
});

/** Returns the line of the agent's history for one request, also for a request without cost. */
function chargeRows<R, T>(
  clock: Clock,
  { arrivedMs, order, spender }: HeldOrder<R, T>,
  tried: Pick<AttemptsResult<unknown>, 'outcome' | 'source' | 'upstreamMs'>,
  usage?: Record<string, number>,
): (chargedRaw: bigint) => readonly ChargeRow[] {
  const { model } = order;
  const { source, outcome, upstreamMs } = tried;
  // Read now, so that the time of the commit does not count as latency.
  const latencyMs = clock.monotonicMs() - arrivedMs;
  return (costRaw) => [
    {
      agentId: spender.agentId,
      keyId: spender.keyId ?? null,
      targetUrl: `gateway://${source.provider}/${source.upstreamModel}`,
      targetHost: makerOf(model.id),
      method: 'POST',
      status: usage === undefined ? 'failed' : 'success',
      costRaw,
      model: model.id,
      rail: source.rail,
      usage: usage ?? {},
      taskId: spender.taskId ?? null,
      actionId: spender.actionId ?? null,
      customerId: spender.customerId ?? null,
      sessionId: null,
      payee: null,
      responseStatusCode: 'status' in outcome ? outcome.status : null,
      latencyMs: Math.round(latencyMs),
      overheadMs: Math.round(Math.max(0, latencyMs - upstreamMs)),
      upstreamMs: Math.round(upstreamMs),
    },
  ];
}

/**
 * Returns the usage of a charge row. `estimated` marks a row without reported usage; `cache_discount_raw` is set when a cache
 * was used.
 */
const rowUsage = (
  { estimated, usage }: Metered,
  discount: bigint | undefined,
): Record<string, number> => ({
  ...usage,
  ...(estimated && { estimated: 1 }),
  ...(discount !== undefined && { cache_discount_raw: Number(discount) }),
});
