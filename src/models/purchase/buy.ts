import { ApiError } from '../../kernel/api-error.ts';
import { assert } from '../../kernel/assert.ts';
import { impliedSource } from '../catalogue/byok-source.ts';
import type { RateLimitAdvisory } from '../routing/rate-limit-advisory.ts';
import { answerUndelivered } from '../routing/refuse-outcome.ts';
import type { StoredKeys } from '../routing/sellers.ts';
import { hasDelivered, joinStages, type Tried, type Undelivered } from '../routing/try-sources.ts';
import type { Bought, Relayed } from './answer.ts';
import { type AskDeps, askOrder, servedBy } from './ask-order.ts';
import type { Buyer } from './buyer.ts';
import { type Granted, type HoldDeps, openHold } from './open-hold.ts';
import type { Order, Wanted } from './order.ts';
import { type QuoteDeps, quote } from './quote.ts';
import type { Served } from './receipt.ts';
import { budgetLeft, giveUp, type SettleDeps, settle } from './settle.ts';

export type BuyDeps<R> = QuoteDeps<R> &
  HoldDeps &
  AskDeps &
  SettleDeps & {
    readonly providerKeys: StoredKeys;
    /** Undefined: answers do not show the limits of upstreams. */
    readonly rateLimitAdvisory?: RateLimitAdvisory | undefined;
    /** Answers name the model as the upstream does, and not as the catalogue does. */
    readonly keepsNames?: boolean;
  };

/** No source has delivered: what is answered instead. */
type Unsold = { readonly kind: 'unsold'; readonly answer: Relayed };

type Last<R, T> = {
  readonly order: Order<R, T>;
  readonly tried: Undelivered;
  readonly served: Served;
};

/** The models that were wanted first and could not be bought, and why. */
type Fallbacks = [modelId: string, why: string][];

/**
 * Buys with the buyer's own key where it has one for the model, and from the pool where it has none or where no provider
 * answers to it: holds the most that it can cost and asks the sellers, cheapest first. What one of them delivers is for
 * the caller to settle, once: whole, or when its stream is over. What is not delivered costs nothing: a refusal of the
 * upstream is relayed, everything else is thrown. A source that is paid by itself is paid beside the hold, which is for
 * the margin then; where that was done in vain, what is thrown says what to look up. Where no source of the model can take
 * the request, or each failed, the same is bought of what is wanted instead. A refusal for want of money ends the purchase.
 * Work under an Idempotency-Key has one hold: it does not change over once that was open.
 */
export async function buy<R, T>(
  deps: BuyDeps<R>,
  buyer: Buyer,
  first: Wanted<R, T>,
): Promise<Bought<T> | Unsold> {
  let wanted = first;
  let last: Last<R, T> | undefined;
  let before: Undelivered | undefined;
  const fallbacks: Fallbacks = [];
  for (;;) {
    let granted: Granted<R, T>;
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
      // The answer of the buyer's own account stands where the pool refuses it.
      if (last?.tried.source.rail !== 'byok' || !(error instanceof ApiError)) throw error;
      break;
    }
    let tried: Tried<T>;
    let served: Served;
    try {
      tried = joinStages(last?.tried, await askOrder(deps, keyed, granted, before));
      const routing = wanted.wishes && { provider: tried.source.provider, fallbacks };
      const rateLimits = deps.rateLimitAdvisory?.(tried);
      served = servedBy(granted.order, tried, { rateLimits, routing });
    } catch (error) {
      // A bug on the way must not keep the agent's money.
      await giveUp(deps, granted);
      throw error;
    }
    if (!hasDelivered(tried)) {
      // When this order asked no source, the history already has all attempts.
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
 * The buyer, without the key that came with the request where another provider would see it: it is meant for that of the
 * model that was wanted first.
 */
function keyedFor<R, T>(
  { catalogue }: Pick<BuyDeps<R>, 'catalogue'>,
  buyer: Buyer,
  first: Wanted<R, T>,
  wanted: Wanted<R, T>,
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

/** The quote, or why there is none. */
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

/** Returns true when the buyer's next model may be asked: the last one failed, and the buyer named no id for its one hold. */
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
