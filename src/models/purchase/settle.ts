import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { marginRaw, priceRaw } from '../../kernel/price.ts';
import { type ChargeRow, chargeRow } from '../../ledger/rules/companion.ts';
import { makerOf } from '../../ledger/rules/destination.ts';
import type { Ledger } from '../../ledger/rules/ledger.ts';
import type { Attributes } from '../../platform/tracing/span.ts';
import type { BudgetLeft, BudgetReports } from '../../spend/awareness/budget-left.ts';
import type { Source } from '../catalogue/catalogue.ts';
import type { CircuitBreaker } from '../providers/circuit-breaker.ts';
import type { Completed } from '../providers/outcome.ts';
import { usageAttributes } from '../routing/attempt-span.ts';
import { type Attempted, type Delivered, distrust, type Undelivered } from './attempt.ts';
import type { Metered } from './clamp-usage.ts';
import type { HeldRequest, Product } from './product.ts';
import type { Price, Served } from './receipt.ts';

export type SettleDeps = {
  readonly breaker: Pick<CircuitBreaker, 'distrusted'>;
  readonly budgets: BudgetReports;
  readonly clock: Clock;
  readonly ledger: Pick<Ledger, 'settle'>;
  readonly log: Log;
};

/** Price of a purchase, and the remaining budget after it. */
export type Settled = Price & Partial<BudgetLeft>;

/** Answer that an upstream has begun to deliver. Its hold stays open until `settle` is called, once. */
export interface HeldPurchase<T> {
  readonly kind: 'bought';
  readonly outcome: Completed<T>;
  readonly served: Served;
  readonly source: Source;
  readonly upstreamMs: number;
  /** Amount that the agent may still spend, before this purchase is settled. On failure, nothing is charged. */
  budget(): Promise<BudgetLeft>;
  /**
   * Charges the usage up to now. Usage beyond the possible is recorded as a shortfall and not billed; a source that reports
   * impossible usage backs off. `error` is the class of the failure that broke the answer off, for its trace.
   */
  settle(error?: string): Promise<Settled>;
}

/** Delivered answer of a held request. */
export class DeliveredPurchase<Q, B, R, T> implements HeldPurchase<T> {
  readonly kind = 'bought';
  readonly served: Served;
  readonly #deps: SettleDeps;
  readonly #product: Pick<Product<Q, B, R, T>, 'meter' | 'note'>;
  readonly #request: HeldRequest<Q, B, R>;
  readonly #delivered: Delivered<T>;

  constructor(
    deps: SettleDeps,
    product: Pick<Product<Q, B, R, T>, 'meter' | 'note'>,
    request: HeldRequest<Q, B, R>,
    delivered: Delivered<T>,
    served: Served,
  ) {
    this.#deps = deps;
    this.#product = product;
    this.#request = request;
    this.#delivered = delivered;
    this.served = served;
  }

  get outcome(): Completed<T> {
    return this.#delivered.outcome;
  }

  get source(): Source {
    return this.#delivered.source;
  }

  get upstreamMs(): number {
    return this.#delivered.upstreamMs;
  }

  async budget(): Promise<BudgetLeft> {
    const { buyer, held } = this.#request;
    const { funds, after, hold } = held;
    try {
      return await this.#deps.budgets.left(
        { funds, after },
        { spender: buyer.spender, facts: hold.facts },
      );
    } catch (error) {
      this.#delivered.span?.end({ error: 'unsettled' });
      await release(this.#deps, this.#request);
      throw error;
    }
  }

  async settle(error?: string): Promise<Settled> {
    const { span } = this.#delivered;
    span?.stop();
    try {
      return await this.#settleUsage(error);
    } finally {
      // The span of a settled purchase has ended already, so this has no effect on it.
      span?.end({ error: 'unsettled' });
    }
  }

  async #settleUsage(brokenBy: string | undefined): Promise<Settled> {
    const { budgets, clock, ledger, log } = this.#deps;
    const request = this.#request;
    const { hold } = request.held;
    const { outcome, source, span } = this.#delivered;
    const { paidRaw } = outcome;
    let metered: Metered;
    let price: UsagePrice;
    try {
      metered = this.#product.meter(request, outcome, source);
      this.#product.note?.(request, outcome, source);
      price = priceUsage(metered, source, paidRaw);
    } catch (error) {
      await release(this.#deps, request);
      throw error;
    }
    // A payment per call was agreed in advance, whatever usage is reported.
    if (metered.reported?.isImpossible && paidRaw === undefined) distrust(this.#deps, source);
    const { cacheDiscountRaw } = price;
    const verdict = await ledger.settle({
      hold,
      account: source.rail === 'byok' ? 'byok' : 'gateway',
      actualRaw: price.actualRaw,
      billableRaw: price.billableRaw,
      source: source.provider,
      charges: chargesOf(clock, request, this.#delivered, rowUsage(metered, cacheDiscountRaw)),
    });
    if (verdict.kind !== 'settled') {
      log.error({ actualRaw: price.actualRaw }, 'a hold was resolved by another process');
      return { chargedRaw: paidRaw ?? 0n };
    }
    const chargedRaw = verdict.chargedRaw + (paidRaw ?? 0n);
    if (span?.isRecorded) {
      span.end({ attributes: spentOn(metered, chargedRaw), error: brokenBy });
    }
    const { spender } = request.buyer;
    const { advisory, remainingRaw } = await budgets.left(verdict, { spender, facts: hold.facts });
    return { chargedRaw, cacheDiscountRaw, remainingRaw, advisory };
  }
}

/** Releases the hold without a charge, after a failure of all sources or a bug. `attempted` has the attempts for the history. */
export async function release<Q, B, R>(
  { clock, ledger }: Pick<SettleDeps, 'clock' | 'ledger'>,
  request: HeldRequest<Q, B, R>,
  attempted?: Undelivered,
): Promise<void> {
  await ledger.settle({
    hold: request.held.hold,
    account: 'gateway',
    actualRaw: 0n,
    source: attempted?.source.provider ?? request.quote.model.id,
    ...(attempted !== undefined &&
      attempted.attempts > 0 && { charges: chargesOf(clock, request, attempted) }),
  });
}

type UsagePrice = {
  /** Price of all usage that the upstream reported. */
  readonly actualRaw: bigint;
  /** Price of the usage that the request can have had. */
  readonly billableRaw: bigint;
  readonly cacheDiscountRaw: bigint | undefined;
};

/**
 * Prices the usage of an answer: each quantity at the rates of its source, margin included. A call that was paid with `paidRaw`
 * costs its margin beside the payment, whatever it used.
 */
function priceUsage(metered: Metered, source: Source, paidRaw: bigint | undefined): UsagePrice {
  const { marginBps } = source;
  if (paidRaw !== undefined) {
    const raw = marginRaw(paidRaw, marginBps);
    return { actualRaw: raw, billableRaw: raw, cacheDiscountRaw: undefined };
  }
  const { rates = source.rates, reported, uncached, usage } = metered;
  const billableRaw = priceRaw(usage, rates, marginBps);
  return {
    billableRaw,
    actualRaw: reported
      ? priceRaw(reported.usage, reported.rates ?? source.rates, marginBps)
      : billableRaw,
    cacheDiscountRaw: uncached && priceRaw(uncached, rates, marginBps) - billableRaw,
  };
}

/** Returns the usage and the ledger's charge for it, as attributes of a span. */
const spentOn = ({ estimated, note, tokens, usage }: Metered, chargedRaw: bigint): Attributes => ({
  ...usageAttributes(usage, { tokens, note: note?.(), isEstimated: estimated }),
  'svc.cost_raw': Number(chargedRaw),
});

/** Returns the line of the agent's history for one request, also for a request without cost. */
function chargesOf<Q, B, R>(
  clock: Clock,
  { arrivedMs, buyer, quote }: HeldRequest<Q, B, R>,
  { outcome, source, upstreamMs }: Pick<Attempted<unknown>, 'outcome' | 'source' | 'upstreamMs'>,
  usage?: Record<string, number>,
): (chargedRaw: bigint) => readonly ChargeRow[] {
  const model = quote.model.id;
  // Read now, so that the time of the commit does not count as latency.
  const latencyMs = clock.monotonicMs() - arrivedMs;
  return (costRaw) => [
    chargeRow(buyer.spender, {
      targetUrl: `gateway://${source.provider}/${source.upstreamModel}`,
      targetHost: makerOf(model),
      method: 'POST',
      status: usage === undefined ? 'failed' : 'success',
      costRaw,
      model,
      rail: source.rail,
      usage: usage ?? {},
      responseStatusCode: 'status' in outcome ? outcome.status : null,
      latencyMs,
      overheadMs: latencyMs - upstreamMs,
      upstreamMs,
    }),
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
