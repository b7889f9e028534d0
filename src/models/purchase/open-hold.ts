import type { Clock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import type { Random } from '../../kernel/random.ts';
import { destinationOf } from '../../ledger/rules/destination.ts';
import { holdWhatFits, type Room } from '../../ledger/rules/hold-what-fits.ts';
import type { HoldVerdict, Ledger } from '../../ledger/rules/ledger.ts';
import { holdForRaw, type Offer } from '../routing/plan-offers.ts';
import type { Tried } from '../routing/try-sources.ts';
import type { Order } from './order.ts';
import { refuseHold } from './refuse-hold.ts';

export type HoldDeps = {
  readonly ledger: Pick<Ledger, 'hold'>;
  readonly clock: Clock;
  readonly random: Random;
};

export type Held = Extract<HoldVerdict, { kind: 'held' }>;

/** An order whose hold is open, and what was tried for it before. */
export type Granted<R, T> = {
  readonly order: Order<R, T>;
  readonly held: Held;
  readonly before: Pick<Tried<T>, 'attempts' | 'upstreamMs' | 'limited'>;
  readonly arrivedMs: number;
};

/**
 * Holds the most that an order can cost. Where the balance or a cap leaves less, it holds what fits: of a shorter answer,
 * or at the sources that cost no more. A cap that suspends its agent does so only where the least that is of use does not
 * fit. Throws the refusal.
 */
export async function openHold<R, T>(
  { clock, ledger, random }: HoldDeps,
  asked: Order<R, T>,
): Promise<Granted<R, T>> {
  const { spender, model, workId } = asked;
  const holdId = workId ?? newId(random, 'buy_');
  const destination = destinationOf(model.id);
  const arrivedMs = clock.monotonicMs();
  const { verdict, wanted: order } = await holdWhatFits<Order<R, T>, HoldVerdict>({
    most: inStages(asked),
    least: () => inStages(asked.atLeast?.() ?? atCheapest(asked)),
    hold: ({ offers }, isQuiet) =>
      ledger.hold({ spender, holdId, amountRaw: holdForRaw(offers), destination, isQuiet }),
    less(order, room) {
      const less = order.forLess?.(room) ?? withoutDear(order, room);
      return less && inStages(less);
    },
  });
  if (verdict.kind === 'refused') throw refuseHold(verdict.refusal);
  return { held: verdict, order, before: { attempts: 0, upstreamMs: 0 }, arrivedMs };
}

/** The order at those alone whose price fits, where that is not all of them. */
function withoutDear<R, T>(order: Order<R, T>, { availableRaw }: Room): Order<R, T> | undefined {
  const [first, ...rest] = order.offers.filter(({ heldRaw }) => heldRaw <= availableRaw);
  if (first === undefined || rest.length + 1 === order.offers.length) return undefined;
  return { ...order, offers: [first, ...rest] };
}

const atCheapest = <R, T>(order: Order<R, T>): Order<R, T> => ({
  ...order,
  offers: [order.offers[0]],
});

const isPaidByItself = ({ mostPaidRaw }: Offer<unknown>): boolean => mostPaidRaw !== undefined;

/**
 * Asks sources that are paid by themselves apart from those that this server has accounts at, the kind of the cheapest
 * first: a payment has a hold of its own, and beside a hold for the other kind it would count twice under every cap.
 * Work under an Idempotency-Key has one hold, and is bought where it needs no other.
 */
export function inStages<R, T>(order: Order<R, T>): Order<R, T> {
  const [router, ...routers] = order.offers.filter(isPaidByItself);
  const [account, ...accounts] = order.offers.filter((offer) => !isPaidByItself(offer));
  if (router === undefined || account === undefined) return order;
  const atAccounts: Order<R, T> = { ...order, offers: [account, ...accounts] };
  if (order.workId !== undefined) return atAccounts;
  const atRouters: Order<R, T> = { ...order, offers: [router, ...routers] };
  return order.offers[0] === router
    ? { ...atRouters, instead: async () => atAccounts }
    : { ...atAccounts, instead: async () => atRouters };
}
