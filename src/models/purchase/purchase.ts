import { ApiError } from '../../kernel/api-error.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { marginRaw, priceRaw } from '../../kernel/price.ts';
import type { Random } from '../../kernel/random.ts';
import type { SpendAccount } from '../../ledger/rules/accounts.ts';
import { makerOf } from '../../ledger/rules/destination.ts';
import type { Ledger } from '../../ledger/rules/ledger.ts';
import { paymentHoldId } from '../../ledger/rules/payment.ts';
import type { SettleRequest } from '../../ledger/rules/requests.ts';
import type { BudgetLeft, BudgetReports } from '../../spend/awareness/budget-left.ts';
import type { Source } from '../catalogue/catalogue.ts';
import type { TokenUsage } from '../providers/chat-rail.ts';
import type { CircuitBreaker } from '../providers/circuit-breaker.ts';
import type { Completed, Declined } from '../providers/outcome.ts';
import type { PaymentMethod } from '../providers/payment-method.ts';
import type { Offer } from '../routing/plan-offers.ts';
import type { RateLimitAdvisory } from '../routing/rate-limit-advisory.ts';
import { refuseOutcome, retryHeaders } from '../routing/refuse-outcome.ts';
import { distrust, isPassedOver, type Tried, trySources } from '../routing/try-sources.ts';
import { chargeRow, type Metered } from './charge-row.ts';
import { type Granted, type Held, openHold } from './open-hold.ts';
import type { Order } from './order.ts';
import { passthroughHeaders, type Served } from './receipt.ts';

export type PurchaseDeps = {
  readonly breaker: CircuitBreaker;
  readonly ledger: Pick<Ledger, 'hold' | 'settle'>;
  readonly budgets: BudgetReports;
  /** Undefined: callers are not told of the limits of upstreams. */
  readonly rateLimitAdvisory?: RateLimitAdvisory | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
};

/** An upstream's answer under our receipt. */
export type Relayed = {
  readonly status: number;
  readonly body: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
  /** How long the upstreams took. */
  readonly upstreamMs: number;
};

/** What an upstream has begun to deliver. Its hold is open until it is settled, once. */
export type OpenPurchase<T> = {
  readonly outcome: Completed<T>;
  readonly served: Served;
  readonly source: Source;
  readonly upstreamMs: number;
  /** The most tokens that it can come to, where it is bought by them. */
  readonly mostTokens?: TokenUsage | undefined;
  /** What may still be spent, as it stands before this is settled. */
  budget(): Promise<BudgetLeft>;
  /**
   * Charges what was used. Answers what it came to and what is left. What an upstream tells beyond that is a shortfall of
   * its own, and a source that tells what cannot be rests.
   */
  settle(metered: Metered): Promise<{ readonly chargedRaw: bigint } & Partial<BudgetLeft>>;
};

/**
 * Holds the most that an order can cost, asks its sources, cheapest first, and hands what one of them delivers to
 * `deliver`, which settles it: before it returns, or later where the answer goes on. What is not delivered costs
 * nothing: a refusal of the upstream is relayed, everything else is thrown. Where `deliver` throws before it has
 * settled, nothing is charged. A source that is paid by itself is paid beside the hold, which is for the margin then;
 * where that was done in vain, what is thrown says what to look up.
 */
export async function purchase<R, T, A>(
  deps: PurchaseDeps,
  order: Order<R, T>,
  deliver: (bought: OpenPurchase<T>) => Promise<A>,
): Promise<A | Relayed> {
  let granted = await openHold(deps, order);
  for (;;) {
    const served = await serve(deps, granted, deliver);
    if (served.kind === 'answered') return served.answer;
    granted = served.instead;
  }
}

/** What came of one hold: an answer, or the hold for the sellers that are asked next. */
type ServedHold<R, T, A> =
  | { readonly kind: 'answered'; readonly answer: A | Relayed }
  | { readonly kind: 'passed_over'; readonly instead: Granted<R, T> };

/** Asks the sellers of one hold, and resolves it. Throws the refusal where none delivers and no others are left. */
async function serve<R, T, A>(
  deps: PurchaseDeps,
  { order, held, before, arrivedMs }: Granted<R, T>,
  deliver: (bought: OpenPurchase<T>) => Promise<A>,
): Promise<ServedHold<R, T, A>> {
  const open = openPurchase(deps, order, held, arrivedMs);
  try {
    const ask = (offer: Offer<R>) =>
      order.ask(offer, held.hold.amountRaw, meansOf(order, held, offer));
    const tried = await trySources(deps, { offers: order.offers, ask, before });
    const { outcome, source, attempts, upstreamMs } = tried;
    const rateLimits = deps.rateLimitAdvisory?.(tried);
    const { id: model, retirement } = order.model;
    const { answerCap, mostTokens } = order;
    const served = { model, retirement, rail: source.rail, attempts, rateLimits, answerCap };
    if (outcome.kind === 'completed') {
      const answer = await deliver({
        outcome,
        served,
        source,
        upstreamMs,
        mostTokens,
        budget: open.budget,
        settle: (metered) => open.settle(tried, metered),
      });
      return { kind: 'answered', answer };
    }
    await open.giveUp(tried);
    const instead = isPassedOver(outcome, source)
      ? await openInstead(deps, order, tried)
      : undefined;
    if (instead !== undefined) return { kind: 'passed_over', instead };
    if (outcome.kind !== 'declined') throw refuseOutcome(outcome, tried, served);
    warnOfRefusedAccount(deps.log, outcome.status, source);
    const words = retryHeaders(outcome, deps.clock.now());
    const answer = relay(outcome, { ...passthroughHeaders(served), ...words }, upstreamMs);
    return { kind: 'answered', answer };
  } catch (error) {
    // A bug on the way must not keep the agent's money; a settle that was sent is never sent otherwise.
    await open.release();
    throw error;
  }
}

/** Undefined: there is no other seller, or the pool refuses a buyer whose own key failed, and the first refusal stands. */
async function openInstead<R, T>(
  deps: PurchaseDeps,
  order: Order<R, T>,
  { attempts, limited, source, upstreamMs }: Tried<T>,
): Promise<Granted<R, T> | undefined> {
  if (order.instead === undefined) return undefined;
  try {
    const granted = await openHold(deps, await order.instead());
    return { ...granted, before: { attempts, limited, upstreamMs } };
  } catch (error) {
    if (error instanceof ApiError && source.rail === 'byok') return undefined;
    throw error;
  }
}

/** What a call came to: the part of a settlement that is known only at its end. */
type End = Pick<SettleRequest, 'actualRaw' | 'billableRaw' | 'source' | 'charge'> & {
  readonly account?: SpendAccount;
};

function openPurchase<R, T>(
  { budgets, clock, ledger, log, breaker }: PurchaseDeps,
  { spender, model }: Order<R, T>,
  { hold, funds, after }: Held,
  arrivedMs: number,
) {
  const request = { spender, model: model.id, arrivedMs, clock, facts: hold.facts };
  let resolving = false;
  const resolve = (end: End) => {
    resolving = true;
    return ledger.settle({ hold, account: 'gateway', ...end });
  };

  return {
    budget: () => budgets.left({ funds, after }, request),

    async settle(tried: Tried<T>, metered: Metered) {
      const { outcome, source } = tried;
      const paidRaw = outcome.kind === 'completed' ? outcome.paidRaw : undefined;
      const priceOf = ({ usage, rates = source.rates }: Pick<Metered, 'usage' | 'rates'>) =>
        paidRaw === undefined
          ? priceRaw(usage, rates, source.marginBps)
          : marginRaw(paidRaw, source.marginBps);
      const billableRaw = priceOf(metered);
      const actualRaw = priceOf(metered.told ?? metered);
      // The price of a call that is paid by itself was agreed on before, whatever usage is reported.
      if (metered.told?.isImpossible && paidRaw === undefined) distrust({ log, breaker }, source);
      const charge = chargeRow(request, tried, metered);
      const account = source.rail === 'byok' ? 'byok' : 'gateway';
      const verdict = await resolve({
        actualRaw,
        billableRaw,
        source: source.provider,
        account,
        charge,
      });
      if (verdict.kind !== 'settled') {
        log.error({ actualRaw }, 'a hold was resolved by another process');
        return { chargedRaw: paidRaw ?? 0n };
      }
      const chargedRaw = verdict.chargedRaw + (paidRaw ?? 0n);
      return { chargedRaw, ...(await budgets.left(verdict, request)) };
    },

    /** No seller has delivered. */
    async giveUp(tried: Tried<T>): Promise<void> {
      const charge = tried.attempts === 0 ? {} : { charge: chargeRow(request, tried, undefined) };
      await resolve({ actualRaw: 0n, source: tried.source.provider, ...charge });
    },

    async release(): Promise<void> {
      if (!resolving) await resolve({ actualRaw: 0n, source: model.id });
    },
  };
}

/** How a source is paid that has no account with this server: by its buyer, or beside what is held for its margin. */
function meansOf<R, T>(
  { model, spender }: Order<R, T>,
  { hold }: Held,
  { mostPaidRaw: mostRaw, ownKey }: Offer<R>,
): PaymentMethod | undefined {
  if (ownKey !== undefined) return { ownKey };
  if (mostRaw === undefined) return undefined;
  const holdId = paymentHoldId(hold.holdId);
  return { budget: { spender, maker: makerOf(model.id), mostRaw, holdId } };
}

/** Relayed like every other 4xx, but it is the operator's credential that was refused. */
function warnOfRefusedAccount(log: Log, status: number, { provider, rail }: Source): void {
  if (rail !== 'byok' && (status === 401 || status === 403)) {
    log.error({ provider, status }, 'a provider refused the credential of this server');
  }
}

export const relay = (
  answer: Pick<Declined, 'status' | 'body' | 'contentType'>,
  headers: Readonly<Record<string, string>>,
  upstreamMs: number,
): Relayed => ({
  status: answer.status,
  body: answer.body,
  headers: { 'content-type': answer.contentType, ...headers },
  upstreamMs,
});
