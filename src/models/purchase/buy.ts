import { ApiError } from '../../kernel/api-error.ts';
import { assert } from '../../kernel/assert.ts';
import { impliedSource } from '../catalogue/byok-source.ts';
import {
  type AttemptsResult,
  hasDelivered,
  joinStages,
  type Undelivered,
} from '../routing/attempt-offers.ts';
import type { StoredKeys } from '../routing/keyed-sources.ts';
import type { RateLimitAdvisory } from '../routing/rate-limit-advisory.ts';
import { answerUndelivered } from '../routing/refuse-outcome.ts';
import type { HeldPurchase, Relayed } from './answer.ts';
import { type AskOrderDeps, askOrder, servedBy } from './ask-order.ts';
import type { Buyer } from './buyer.ts';
import { type HeldOrder, type OpenHoldDeps, openHold } from './open-hold.ts';
import type { Order, PurchaseRequest } from './order.ts';
import { type QuoteDeps, quote } from './quote.ts';
import type { Served } from './receipt.ts';
import { budgetLeft, giveUp, type SettleDeps, settle } from './settle.ts';

export type BuyDeps<R> = QuoteDeps<R> &
  OpenHoldDeps &
  AskOrderDeps &
  SettleDeps & {
    readonly providerKeys: StoredKeys;
    /** Writer of the header with the upstreams' rate limits. Undefined: answers do not show them. */
    readonly rateLimitAdvisory?: RateLimitAdvisory | undefined;
    /** True when answers keep the upstream's name of the model, instead of the catalogue's. */
    readonly keepsNames?: boolean;
  };

/** Outcome without a delivery, with the answer for the caller. */
type Unsold = { readonly kind: 'unsold'; readonly answer: Relayed };

type Last<R, T> = {
  readonly order: Order<R, T>;
  readonly tried: Undelivered;
  readonly served: Served;
};

/** Models that were requested before the delivering one, each with the reason of its failure. */
type Fallbacks = [modelId: string, why: string][];

/**
 * Buys a request. The buyer's own key pays if one opens the model; the pool pays if none does or its providers fail. Holds the
 * most that the request can cost and attempts the sources, cheapest first. The caller settles a delivery once: when it is
 * whole, or when its stream is over. Without a delivery nothing is charged: a refusal of the upstream is returned, and every
 * other outcome is thrown. A source that is paid per call is paid beside the hold, which then covers only the margin; after
 * such a payment without a delivery the error names the payment. When no source of the model can take the request or all fail,
 * `instead` is bought. A refusal for lack of money ends the purchase. Work under an Idempotency-Key has one hold, and does not
 * change to another model once that hold was open.
 */
export async function buy<R, T>(
  deps: BuyDeps<R>,
  buyer: Buyer,
  first: PurchaseRequest<R, T>,
): Promise<HeldPurchase<T> | Unsold> {
  let wanted = first;
  let last: Last<R, T> | undefined;
  let before: Undelivered | undefined;
  const fallbacks: Fallbacks = [];
  for (;;) {
    let granted: HeldOrder<R, T>;
    const keyed = keyedFor(deps, buyer, first, wanted);
    try {
      const order = await quoteOr(deps, keyed, wanted, last);
      if (order instanceof ApiError || order === undefined) {
        const { instead } = wanted;
        const mayChangeOver = last === undefined || isUntied(buyer, last);
        if (instead !== undefined && mayChangeOver) {
          fallbacks.push([wanted.modelId, order?.error ?? whyOf(last)]);
          wanted = instead;
          last = undefined;
          continue;
        }
        if (order === undefined) break;
        throw order;
      }
      granted = await openHold(deps, buyer, order);
    } catch (error) {
      // When the pool refuses, the outcome of the buyer's own account is returned.
      if (last?.tried.source.rail !== 'byok' || !(error instanceof ApiError)) throw error;
      break;
    }
    let tried: AttemptsResult<T>;
    let served: Served;
    try {
      tried = joinStages(last?.tried, await askOrder(deps, keyed, granted, before));
      const routing = wanted.wishes && { provider: tried.source.provider, fallbacks };
      const rateLimits = deps.rateLimitAdvisory?.(tried);
      served = servedBy(granted.order, tried, { rateLimits, routing });
    } catch (error) {
      // The hold must be released even after a bug.
      await giveUp(deps, granted);
      throw error;
    }
    if (!hasDelivered(tried)) {
      // An order that asked no source leaves no line: the history already has all attempts.
      await giveUp(deps, granted, tried.attempts === before?.attempts ? undefined : tried);
      last = { order: granted.order, tried, served };
      before = tried;
      continue;
    }
    const { outcome, source, upstreamMs } = tried;
    return {
      kind: 'bought',
      outcome,
      served,
      source,
      upstreamMs,
      budget: () => budgetLeft(deps, granted, tried),
      settle: (error) => settle(deps, granted, tried, error),
    };
  }
  assert(last !== undefined, 'a purchase has sellers, or is refused');
  return { kind: 'unsold', answer: answerUndelivered(deps, last.tried, last.served) };
}

/**
 * Returns the buyer without the key of the request, if another provider would see the key. The key belongs to the provider of
 * the first model.
 */
function keyedFor<R, T>(
  { catalogue }: Pick<BuyDeps<R>, 'catalogue'>,
  buyer: Buyer,
  first: PurchaseRequest<R, T>,
  wanted: PurchaseRequest<R, T>,
): Buyer {
  if (buyer.providerKey === undefined || wanted === first) return buyer;
  const hostOf = (modelId: string) => {
    const model = catalogue.findKeyed(modelId);
    return model && impliedSource(model)?.provider;
  };
  const host = hostOf(first.modelId);
  return host !== undefined && hostOf(wanted.modelId) === host
    ? buyer
    : { ...buyer, providerKey: undefined };
}

/** Returns the quote, or its refusal as a value. */
const quoteOr: <R, T>(
  ...asked: Parameters<typeof quote<R, T>>
) => Promise<Order<R, T> | ApiError | undefined> = async (...asked) => {
  try {
    return await quote(...asked);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
};

/**
 * Returns true when the next model may be tried: the previous model failed, and the buyer set no id for the purchase's one
 * hold.
 */
const isUntied = <R, T>({ workId }: Buyer, { tried }: Last<R, T>): boolean =>
  workId === undefined && mayDeliverElsewhere(tried.outcome);

/**
 * Returns true when another model may succeed. A refusal of the upstream is relayed, and missing money is missing for every
 * model.
 */
const mayDeliverElsewhere = ({ kind }: Undelivered['outcome']): boolean =>
  kind === 'failed' || kind === 'resting' || kind === 'unfit';

function whyOf<R, T>(last: Last<R, T> | undefined): string {
  const outcome = last?.tried.outcome;
  return outcome?.kind === 'failed' ? outcome.failure : (outcome?.kind ?? 'unsold');
}
