import type { Clock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import type { Random } from '../../kernel/random.ts';
import { destinationOf } from '../../ledger/rules/destination.ts';
import { holdLess, type Room } from '../../ledger/rules/hold-what-fits.ts';
import type { HoldVerdict, Ledger } from '../../ledger/rules/ledger.ts';
import { byPayment, holdForRaw, isPaidByItself } from '../routing/plan-offers.ts';
import type { Buyer } from './buyer.ts';
import type { HeldRequest, Product, Quote } from './product.ts';
import { refuseHold } from './refuse-hold.ts';

export type HoldDeps = {
  readonly ledger: Pick<Ledger, 'hold'>;
  readonly clock: Clock;
  readonly random: Random;
};

type Quoted<Q, B, R, T> = {
  readonly product: Pick<Product<Q, B, R, T>, 'least' | 'lessen'>;
  readonly buyer: Buyer;
  readonly body: Q;
  readonly quote: Quote<B, R>;
};

/**
 * Holds the upper bound of a quote's cost. When the balance or a cap leaves less, holds a smaller quote: a shorter answer, or
 * fewer sources. A cap that suspends its agent does so only when the smallest useful quote does not fit. Throws the refusal.
 */
export async function hold<Q, B, R, T>(
  { clock, ledger, random }: HoldDeps,
  { body, buyer, product, quote: whole }: Quoted<Q, B, R, T>,
): Promise<HeldRequest<Q, B, R>> {
  const { spender, workId } = buyer;
  const arrivedMs = clock.monotonicMs();
  const destination = destinationOf(whole.model.id);
  const holdId = workId ?? newId(random, 'buy_');
  const hasOneHold = workId !== undefined;
  const holdQuote = ({ offers }: Quote<B, R>, isQuiet: boolean): Promise<HoldVerdict> =>
    ledger.hold({ spender, holdId, amountRaw: holdForRaw(offers), destination, isQuiet });

  let quote = inStages(whole, hasOneHold);
  let verdict = await holdQuote(quote, true);
  if (verdict.kind === 'refused') {
    const fitted = await holdLess<Quote<B, R>, HoldVerdict>(verdict, {
      most: quote,
      least: () => inStages(product.least?.(body, whole) ?? atCheapest(whole), hasOneHold),
      hold: holdQuote,
      less(larger, room) {
        const less = product.lessen?.(body, larger, room) ?? withoutDear(larger, room);
        return less && inStages(less, hasOneHold);
      },
    });
    quote = fitted.wanted;
    verdict = fitted.verdict;
  }
  if (verdict.kind === 'refused') throw refuseHold(verdict.refusal);
  return { buyer, body, quote, held: verdict, arrivedMs };
}

/** Returns the quote with only the offers that the available amount covers. Undefined when it covers all offers or none. */
function withoutDear<B, R>(quote: Quote<B, R>, { availableRaw }: Room): Quote<B, R> | undefined {
  const [first, ...rest] = quote.offers.filter(({ heldRaw }) => heldRaw <= availableRaw);
  if (first === undefined || rest.length + 1 === quote.offers.length) return undefined;
  return { ...quote, offers: [first, ...rest] };
}

const atCheapest = <B, R>(quote: Quote<B, R>): Quote<B, R> => ({
  ...quote,
  offers: [quote.offers[0]],
});

/**
 * Splits a quote into stages with one kind of payment each; `rest` holds the later stages. Work under an Idempotency-Key has
 * one hold, so its quote keeps only the sources that need no other hold.
 *
 * @internal Tests give it quotes of every mixture of rails.
 */
export function inStages<B, R>(quote: Quote<B, R>, hasOneHold: boolean): Quote<B, R> {
  const [offers, ...others] = byPayment(quote.offers);
  if (others.length === 0) return quote;
  if (hasOneHold) return atAccounts(quote);
  const rest = others.reduceRight<Quote<B, R> | undefined>(
    (behind, those) => ({ ...quote, offers: those, rest: behind }),
    undefined,
  );
  return { ...quote, offers, rest };
}

function atAccounts<B, R>(quote: Quote<B, R>): Quote<B, R> {
  const [first, ...rest] = quote.offers.filter((offer) => !isPaidByItself(offer));
  return first === undefined ? quote : { ...quote, offers: [first, ...rest] };
}
