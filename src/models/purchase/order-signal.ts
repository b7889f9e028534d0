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
 * What stops an order whose vendor bills all of it once it is placed, such as the transcript of a file. Where an account of this
 * server gets the bill, the limits of the upstream stop it and nothing else, so that leaving does not make it free. Every other
 * order stops with its `client`: the engines of this process, free sources, and what the client's own account or wallet pays.
 */
export const orderSignal = (
  { priceRaw, source }: Pick<Offer<unknown>, 'priceRaw' | 'source'>,
  client: StopSignal,
): StopSignal => (priceRaw > 0n && BILLED_BY_ORDER.has(source.rail) ? NEVER : client);
