import type { StopSignal } from '../../kernel/stop-signal.ts';
import type { Rail } from '../catalogue/catalogue.ts';
import type { Offer } from '../routing/plan-offers.ts';

/** Rails on which an account of this server is billed for each order, also when the client has left. */
const BILLED_BY_ORDER: ReadonlySet<Rail> = new Set(['direct-account', 'aggregator']);

const NEVER: StopSignal = {
  aborted: false,
  reason: undefined,
  addEventListener() {},
  removeEventListener() {},
};

/**
 * Returns the signal that stops an order whose vendor bills all of it once it is placed, such as the transcript of a file. When
 * this server's account gets the bill, the client's signal does not stop the order, so that leaving does not make it free.
 * Orders at local engines, at free sources and at the client's own expense stop with `client`.
 */
export const orderSignal = (
  { priceRaw, source }: Pick<Offer<unknown>, 'priceRaw' | 'source'>,
  client: StopSignal,
): StopSignal => (priceRaw > 0n && BILLED_BY_ORDER.has(source.rail) ? NEVER : client);
