import type { Clock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import type { Random } from '../../kernel/random.ts';
import { destinationOf } from '../../ledger/rules/destination.ts';
import { holdWhatFits, type Room } from '../../ledger/rules/hold-what-fits.ts';
import type { HoldVerdict, Ledger } from '../../ledger/rules/ledger.ts';
import type { Spender } from '../../ledger/rules/requests.ts';
import { byPayment, holdForRaw, isPaidByItself } from '../routing/plan-offers.ts';
import type { Buyer } from './buyer.ts';
import type { Order } from './order.ts';
import { refuseHold } from './refuse-hold.ts';

export type OpenHoldDeps = {
  readonly ledger: Pick<Ledger, 'hold'>;
  readonly clock: Clock;
  readonly random: Random;
};

export type Held = Extract<HoldVerdict, { kind: 'held' }>;

/** Order in the size that the money allows, with its open hold. */
export type HeldOrder<R, T> = {
  readonly order: Order<R, T>;
  readonly spender: Spender;
  readonly held: Held;
  readonly arrivedMs: number;
};

/**
 * Holds the upper bound of an order's cost. When the balance or a cap leaves less, holds a smaller order: a shorter answer, or
 * fewer sources. A cap that suspends its agent does so only when the smallest useful order does not fit. Throws the refusal.
 */
export async function openHold<R, T>(
  { clock, ledger, random }: OpenHoldDeps,
  { spender, workId }: Pick<Buyer, 'spender' | 'workId'>,
  asked: Order<R, T>,
): Promise<HeldOrder<R, T>> {
  const holdId = workId ?? newId(random, 'buy_');
  const destination = destinationOf(asked.model.id);
  const arrivedMs = clock.monotonicMs();
  const staged = (whole: Order<R, T>) => inStages(whole, workId !== undefined);
  const { verdict, wanted: order } = await holdWhatFits<Order<R, T>, HoldVerdict>({
    most: staged(asked),
    least: () => staged(asked.atLeast?.() ?? atCheapest(asked)),
    hold: ({ offers }, isQuiet) =>
      ledger.hold({ spender, holdId, amountRaw: holdForRaw(offers), destination, isQuiet }),
    less(order, room) {
      const less = order.forLess?.(room) ?? withoutDear(order, room);
      return less && staged(less);
    },
  });
  if (verdict.kind === 'refused') throw refuseHold(verdict.refusal);
  return { order, spender, held: verdict, arrivedMs };
}

/** Returns the order with only the offers that the available amount covers. Undefined when it covers all offers or none. */
function withoutDear<R, T>(order: Order<R, T>, { availableRaw }: Room): Order<R, T> | undefined {
  const [first, ...rest] = order.offers.filter(({ heldRaw }) => heldRaw <= availableRaw);
  if (first === undefined || rest.length + 1 === order.offers.length) return undefined;
  return { ...order, offers: [first, ...rest] };
}

const atCheapest = <R, T>(order: Order<R, T>): Order<R, T> => ({
  ...order,
  offers: [order.offers[0]],
});

/**
 * Splits an order into stages with one kind of payment each; `rest` holds the later stages. Work under an Idempotency-Key has
 * one hold, so its order keeps only the sources that need no other hold.
 */
export function inStages<R, T>(order: Order<R, T>, hasOneHold: boolean): Order<R, T> {
  const [offers, ...others] = byPayment(order.offers);
  if (others.length === 0) return order;
  if (hasOneHold) return atAccounts(order);
  const rest = others.reduceRight<Order<R, T> | undefined>(
    (behind, those) => ({ ...order, offers: those, rest: behind }),
    undefined,
  );
  return { ...order, offers, rest };
}

function atAccounts<R, T>(order: Order<R, T>): Order<R, T> {
  const [first, ...rest] = order.offers.filter((offer) => !isPaidByItself(offer));
  return first === undefined ? order : { ...order, offers: [first, ...rest] };
}
