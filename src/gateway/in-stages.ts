import type { Offer } from './plan-offers.ts';
import type { Order } from './purchase.ts';

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
