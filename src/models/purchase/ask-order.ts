import { paymentHoldId } from '../../ledger/rules/payment.ts';
import type { AttemptDeps, Attempts, AttemptsResult } from '../routing/attempt-offers.ts';
import type { StoredKeys } from '../routing/keyed-sources.ts';
import { askOffers, type EarlierAttempts } from './ask-offers.ts';
import type { Buyer } from './buyer.ts';
import type { HeldOrder } from './open-hold.ts';
import type { Order } from './order.ts';
import type { Served } from './receipt.ts';

export type AskOrderDeps = AttemptDeps & { readonly providerKeys: Pick<StoredKeys, 'noteUse'> };

/** Attempts the offers of an order until one delivers. */
export function askOrder<R, T>(
  deps: AskOrderDeps,
  { accountId, providerKey, span }: Pick<Buyer, 'accountId' | 'providerKey' | 'span'>,
  { held, order, spender }: HeldOrder<R, T>,
  before: EarlierAttempts | undefined,
): Promise<AttemptsResult<T>> {
  const { amountRaw, holdId } = held.hold;
  return askOffers(
    deps,
    {
      model: order.model,
      offers: order.offers,
      spender,
      ask: (offer, method) => order.ask(offer, amountRaw, method),
      // A key that came with the request is not stored, so its use is not noted.
      noteUse: ({ provider }) =>
        providerKey === undefined ? deps.providerKeys.noteUse(accountId, provider) : undefined,
      paymentId: () => paymentHoldId(holdId),
      span,
      holdId,
    },
    before,
  );
}

/** Returns the facts of the receipt about the model and the source that answered. */
export const servedBy = <R, T>(
  { answerCap, model }: Order<R, T>,
  { attempts, source }: Attempts,
  { rateLimits, routing }: Pick<Served, 'rateLimits' | 'routing'>,
): Served => ({
  model: model.id,
  retirement: model.retirement,
  rail: source.rail,
  attempts,
  rateLimits,
  answerCap,
  routing,
});
