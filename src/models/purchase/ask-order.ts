import { paymentHoldId } from '../../ledger/rules/payment.ts';
import type { StoredKeys } from '../routing/sellers.ts';
import type { Attempts, Tried, TryDeps } from '../routing/try-sources.ts';
import { askSellers, type Before } from './ask-sellers.ts';
import type { Buyer } from './buyer.ts';
import type { Granted } from './open-hold.ts';
import type { Order } from './order.ts';
import type { Served } from './receipt.ts';

export type AskDeps = TryDeps & { readonly providerKeys: Pick<StoredKeys, 'noteUse'> };

/** Asks the sellers of an order until one delivers. */
export function askOrder<R, T>(
  deps: AskDeps,
  { accountId, providerKey, span }: Pick<Buyer, 'accountId' | 'providerKey' | 'span'>,
  { held, order, spender }: Granted<R, T>,
  before: Before | undefined,
): Promise<Tried<T>> {
  const { amountRaw, holdId } = held.hold;
  return askSellers(
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
