import type { StopSignal } from '../../kernel/stop-signal.ts';
import type { Rail } from '../catalogue/catalogue.ts';
import type { Offer } from '../routing/plan-offers.ts';

/** Here an account of this server is billed for an order that was placed, whether or not its client waits for it. */
const BILLED_BY_ORDER: ReadonlySet<Rail> = new Set(['direct-account', 'aggregator']);

const NEVER: StopSignal = {
  aborted: false,
  reason: undefined,
  addEventListener() {},
  removeEventListener() {},
};

/**
 * What stops an order whose vendor bills all of it once it is placed, such as the transcript of a file. `client` stops what
 * nobody bills (the engines of this process, free sources) and what the client's own account or wallet is billed for. Nothing
 * but the limits of the upstream stops what this server is billed for, so that leaving does not make it free.
 */
export const orderSignal = (
  { priceRaw, source }: Pick<Offer<unknown>, 'priceRaw' | 'source'>,
  client: StopSignal,
): StopSignal => (priceRaw > 0n && BILLED_BY_ORDER.has(source.rail) ? NEVER : client);
