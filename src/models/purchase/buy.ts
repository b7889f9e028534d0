import { ApiError } from '../../kernel/api-error.ts';
import { assert } from '../../kernel/assert.ts';
import type { StoredKeys } from '../routing/keyed-sources.ts';
import type { Rails } from '../routing/open-rails.ts';
import type { RateLimitAdvisory } from '../routing/rate-limit-advisory.ts';
import { answerUndelivered } from '../routing/refuse-outcome.ts';
import type { Relayed } from './answer.ts';
import { type AttemptDeps, type Attempted, attempt, hasDelivered, joinStages } from './attempt.ts';
import type { Buyer } from './buyer.ts';
import { beginPurchase, type ChooseDeps, choose } from './choose.ts';
import { type HoldDeps, hold } from './hold.ts';
import type { HeldRequest, Product, PurchaseRequest } from './product.ts';
import { type Served, servedBy } from './receipt.ts';
import { DeliveredPurchase, type HeldPurchase, release, type SettleDeps } from './settle.ts';

export type BuyDeps<R> = ChooseDeps &
  HoldDeps &
  AttemptDeps &
  SettleDeps & {
    readonly rails: Pick<Rails<R>, 'railOf'>;
    readonly providerKeys: StoredKeys;
    /** Writer of the header with the upstreams' rate limits. Undefined: answers do not show them. */
    readonly rateLimitAdvisory?: RateLimitAdvisory | undefined;
    /** True when answers keep the upstream's name of the model, instead of the catalogue's. */
    readonly keepsNames?: boolean;
  };

/** Outcome without a delivery, with the answer for the caller. */
type NotDelivered = { readonly kind: 'not_delivered'; readonly answer: Relayed };

/**
 * Buys a request: chooses offers, holds the upper bound of the cost and attempts the offers, until one delivers or none is left
 * (docs/decisions/0167). The caller settles a delivery once, when it is whole or its stream is over; without a delivery nothing is
 * charged, and a refusal of the upstream is returned or the error is thrown.
 */
export async function buy<Q, B, R, T>(
  deps: BuyDeps<R>,
  product: Product<Q, B, R, T>,
  firstBuyer: Buyer,
  request: PurchaseRequest<Q>,
): Promise<HeldPurchase<T> | NotDelivered> {
  const purchase = beginPurchase(product, firstBuyer, request);
  const { fallbacks } = purchase;
  for (;;) {
    const { before } = purchase;
    let held: HeldRequest<Q, B, R>;
    try {
      const quote = await choose(deps, purchase);
      if (quote === undefined) break;
      held = await hold(deps, { product, buyer: purchase.buyer, body: request.body, quote });
    } catch (error) {
      // When the pool refuses, the outcome of the buyer's own account is returned.
      if (purchase.last?.attempted.source.rail !== 'byok' || !(error instanceof ApiError))
        throw error;
      break;
    }
    let attempted: Attempted<T>;
    let served: Served;
    try {
      attempted = joinStages(purchase.last?.attempted, await attempt(deps, product, held, before));
      const routing = request.preferences && { provider: attempted.source.provider, fallbacks };
      served = servedBy(held.quote, attempted, {
        rateLimits: deps.rateLimitAdvisory?.(attempted),
        routing,
      });
    } catch (error) {
      // The hold must be released even after a bug.
      await release(deps, held);
      throw error;
    }
    if (hasDelivered(attempted))
      return new DeliveredPurchase(deps, product, held, attempted, served);
    // Without a new attempt no line is written: the history already has every attempt.
    await release(deps, held, attempted.attempts === before?.attempts ? undefined : attempted);
    purchase.last = { quote: held.quote, attempted, served };
    purchase.before = attempted;
  }
  const { last } = purchase;
  assert(last !== undefined, 'a purchase has offers, or is refused');
  return { kind: 'not_delivered', answer: answerUndelivered(deps, last.attempted, last.served) };
}
