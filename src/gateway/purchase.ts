import type { BudgetLeft, BudgetReports } from '../controls/budget-left.ts';
import type { ApiError } from '../kernel/api-error.ts';
import type { Clock } from '../kernel/clock.ts';
import { newId } from '../kernel/ids.ts';
import type { Log } from '../kernel/log.ts';
import { priceRaw } from '../kernel/price.ts';
import type { Random } from '../kernel/random.ts';
import { refuse } from '../kernel/refuse.ts';
import type { HoldVerdict, Ledger, SettleRequest, Spender } from '../ledger/ledger.ts';
import type { Completed, Declined, Outcome } from '../rails/outcome.ts';
import type { SourceRests } from '../rails/rest-failing-source.ts';
import type { Model, Source } from './catalogue.ts';
import { chargeRow, type Metered } from './charge-row.ts';
import { destinationOf } from './destination.ts';
import { holdForRaw, type Offer, type Offers } from './plan-offers.ts';
import { passthroughHeaders } from './receipt.ts';
import { refuseHold } from './refuse-hold.ts';
import { type Tried, trySources } from './try-sources.ts';

export type PurchaseDeps = {
  readonly rests: SourceRests;
  readonly ledger: Pick<Ledger, 'hold' | 'settle'>;
  readonly budgets: BudgetReports;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
};

/** Something that an agent wants of a model, and who could serve it. */
export type Order<R, T> = {
  readonly spender: Spender;
  readonly model: Model;
  /** Becomes the id of the hold. */
  readonly workId?: string | undefined;
  readonly offers: Offers<R>;
  /** Asks one of them, with so much set aside for it. Never rejects for what an upstream does. */
  readonly ask: (offer: Offer<R>, heldRaw: bigint) => Promise<Outcome<T>>;
  /** The same for no more than there is, where less of it can be had. */
  readonly forLess?: (availableRaw: bigint) => Order<R, T> | undefined;
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
export type Bought<T> = {
  readonly outcome: Completed<T>;
  readonly served: { readonly model: string; readonly rail: string; readonly attempts: number };
  readonly source: Source;
  readonly upstreamMs: number;
  /** What may still be spent, as it stands before this is settled. */
  budget(): Promise<BudgetLeft>;
  /** Charges what was used. Answers what it came to and what is left. */
  settle(metered: Metered): Promise<{ readonly chargedRaw: bigint } & Partial<BudgetLeft>>;
};

type Held = Extract<HoldVerdict, { kind: 'held' }>;

/**
 * Holds the most that an order can cost, asks its sources, cheapest first, and hands what one of them delivers to
 * `deliver`, which settles it: before it returns, or later where the answer goes on. What nobody delivers costs
 * nothing: a refusal of the upstream is relayed, everything else is thrown. Where `deliver` throws before it has
 * settled, nothing is charged.
 */
export async function purchase<R, T, A>(
  deps: PurchaseDeps,
  order: Order<R, T>,
  deliver: (bought: Bought<T>) => Promise<A>,
): Promise<A | Relayed> {
  const arrivedMs = deps.clock.monotonicMs();
  const { held, granted } = await openHold(deps, order);
  const open = openPurchase(deps, order, held, arrivedMs);
  try {
    const ask = (offer: Offer<R>) => granted.ask(offer, held.hold.amountRaw);
    const tried = await trySources(deps, { offers: granted.offers, ask });
    const { outcome, source, attempts, upstreamMs } = tried;
    const served = { model: order.model.id, rail: source.rail, attempts };
    if (outcome.kind !== 'completed') {
      await open.giveUp(tried);
      if (outcome.kind !== 'declined') throw refuseOutcome(outcome, tried);
      warnOfRefusedAccount(deps.log, outcome.status, source.provider);
      return relay(outcome, passthroughHeaders(served), upstreamMs);
    }
    return await deliver({
      ...{ outcome, served, source, upstreamMs },
      budget: open.budget,
      settle: (metered) => open.settle(tried, metered),
    });
  } catch (error) {
    // A bug on the way must not keep the agent's money; a settle that was sent is never sent otherwise.
    await open.release();
    throw error;
  }
}

/** What a call came to: the part of a settlement that only its end can tell. */
type End = Pick<SettleRequest, 'actualRaw' | 'source' | 'charge'>;

function openPurchase<R, T>(
  { budgets, clock, ledger, log }: PurchaseDeps,
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
      const { source } = tried;
      const actualRaw = priceRaw(metered.usage, source.rates, source.marginBps);
      const charge = chargeRow(request, tried, metered);
      const verdict = await resolve({ actualRaw, source: source.provider, charge });
      if (verdict.kind !== 'settled') {
        log.error({ actualRaw }, 'a hold was resolved by somebody else');
        return { chargedRaw: 0n };
      }
      return { chargedRaw: verdict.chargedRaw, ...(await budgets.left(verdict, request)) };
    },

    /** Nobody has delivered. */
    async giveUp(tried: Tried<T>): Promise<void> {
      const charge = tried.attempts === 0 ? {} : { charge: chargeRow(request, tried, undefined) };
      await resolve({ actualRaw: 0n, source: tried.source.provider, ...charge });
    },

    async release(): Promise<void> {
      if (!resolving) await resolve({ actualRaw: 0n, source: model.id });
    },
  };
}

/** Holds what an order can cost, or what there is where that is less and something can be had for it. */
async function openHold<R, T>(
  { ledger, random }: PurchaseDeps,
  order: Order<R, T>,
): Promise<{ readonly held: Held; readonly granted: Order<R, T> }> {
  const { spender, workId, model } = order;
  const holdId = workId ?? newId(random, 'buy_');
  const destination = destinationOf(model.id);
  const hold = ({ offers }: Order<R, T>) =>
    ledger.hold({ spender, holdId, amountRaw: holdForRaw(offers), destination });
  const verdict = await hold(order);
  if (verdict.kind === 'held') return { held: verdict, granted: order };
  const { refusal } = verdict;
  const less =
    refusal.reason === 'insufficient_balance' ? order.forLess?.(refusal.availableRaw) : undefined;
  if (less === undefined) throw refuseHold(refusal);
  const again = await hold(less);
  if (again.kind === 'held') return { held: again, granted: less };
  throw refuseHold(again.refusal);
}

/** Relayed like every other 4xx, but it is the operator's credential that was refused. */
function warnOfRefusedAccount(log: Log, status: number, provider: string): void {
  if (status === 401 || status === 403) {
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

type Unserved = Exclude<Tried<never>['outcome'], { kind: 'completed' | 'declined' }>;

function refuseOutcome(outcome: Unserved, { attempts, source }: Tried<unknown>): ApiError {
  if (outcome.kind === 'aborted') return refuse.request.clientClosed();
  if (outcome.kind === 'unfit') {
    return refuse.gateway.invalidRequest(outcome.detail, outcome.param ?? 'messages');
  }
  if (outcome.kind === 'resting') {
    return refuse.gateway.noSourceAvailable('Every source of this model failed lately and rests.');
  }
  if (attempts === 1 && outcome.failure === 'missing') {
    return refuse.gateway.noSourceAvailable(outcome.detail);
  }
  if (attempts === 1 && outcome.failure === 'busy' && source.provider === 'local') {
    return refuse.gateway.engineBusy(outcome.retryAfterSeconds ?? 1);
  }
  return refuse.gateway.allSourcesFailed(attempts);
}
