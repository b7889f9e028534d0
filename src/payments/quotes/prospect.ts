import { credentialErrors } from '../../accounts/errors.ts';
import { ApiError } from '../../kernel/api-error.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Spender } from '../../ledger/rules/requests.ts';
import type { SpendState } from '../../ledger/rules/spend-state.ts';
import type { CheckedDestination } from '../../platform/egress/destination-guard.ts';
import type { Asker } from '../../platform/egress/fair-shares.ts';
import type { GuardedClient, GuardedMethod } from '../../platform/egress/guarded-client.ts';
import type { SpendStateReader } from '../../spend/limits/spend-state.ts';
import { chooseOffer, isPayableBy } from '../../x402/offer.ts';
import { askerOf } from '../proxy/admit-call.ts';
import type { MarketPrice, Marketplace } from '../proxy/marketplace.ts';
import type { OutboundRequest } from '../proxy/outbound-request.ts';
import { UNRESOLVED } from '../proxy/vendor-call.ts';
import { detailOf, type PriceQuotes, type QuotedOffer } from './price-quotes.ts';

export type ProspectDeps = {
  readonly client: Pick<GuardedClient, 'open'>;
  readonly quotes: PriceQuotes;
  readonly spendState: Pick<SpendStateReader, 'read'>;
  readonly marketplace: Pick<Marketplace, 'host' | 'matches' | 'priceOf'>;
  readonly clock: Pick<Clock, 'now'>;
};

/** A call that an agent plans, to be priced. */
export type PlannedCall = {
  readonly url: string;
  readonly method: GuardedMethod;
  /** Body of the planned call. The marketplace counts its text; other targets never get it. */
  readonly body?: OutboundRequest['body'];
};

type Quoted = { readonly host: string; readonly cached: boolean; readonly atMs: number };

type Failed = { readonly kind: 'failed'; readonly detail: string };
type Free = Quoted & { readonly kind: 'free' };
/** A call that this server's marketplace sells from the balance, without a payment on the chain. */
type Sold = Quoted & Extract<MarketPrice, { kind: 'sold' }>;

/** Price that a target quotes for a call, the same for every agent. */
export type TargetPrice =
  | Failed
  | Free
  | Sold
  | (Quoted & { readonly kind: 'priced'; readonly offers: readonly QuotedOffer[] });

/** Price of a planned call for one agent. */
export type Prospect =
  | Failed
  | Free
  | Sold
  /** `offer`: the offer that a payment would choose. */
  | (Quoted & { readonly kind: 'priced'; readonly offer: QuotedOffer });

/** Requests the price of a checked target. `destination` is undefined when the target's name does not resolve. */
export async function askTarget(
  { quotes }: Pick<ProspectDeps, 'quotes'>,
  destination: CheckedDestination | undefined,
  { method }: PlannedCall,
): Promise<TargetPrice> {
  if (destination === undefined) return { kind: 'failed', detail: UNRESOLVED };
  const quoted = await quotes.of(destination, method);
  if (quoted.kind === 'failed') return quoted;
  const { quote, cached } = quoted;
  return { ...quote, host: destination.host, cached };
}

/**
 * Returns the price of a call to the marketplace, by its price list; nothing is sent. Undefined when the call goes elsewhere.
 * Throws the refusal of a body that the marketplace would refuse.
 */
export async function askMarket(
  { clock, marketplace }: Pick<ProspectDeps, 'clock' | 'marketplace'>,
  call: PlannedCall,
): Promise<Failed | Free | Sold | undefined> {
  if (!marketplace.matches(call.url)) return undefined;
  try {
    const price = await marketplace.priceOf({ url: call.url, body: call.body });
    return { ...price, host: marketplace.host, cached: false, atMs: clock.now() };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status === 400) throw error;
    return { kind: 'failed', detail: detailOf(error) };
  }
}

/** Returns the price for an agent with this wallet, which is never the payee of the chosen offer. */
export function prospectOf(asked: TargetPrice, wallet: string | null): Prospect {
  if (asked.kind !== 'priced') return asked;
  const { offers, ...quoted } = asked;
  const offer = chooseOffer(offers.filter((each) => wallet === null || isPayableBy(each, wallet)));
  return offer === undefined ? { kind: 'failed', detail: PAYS_ITSELF } : { ...quoted, offer };
}

const PAYS_ITSELF = 'Every usable offer of the target pays the wallet that would pay.';

/** Returns the party whose share of connections a price probe takes. */
export const prospectiveAsker = (deps: Pick<ProspectDeps, 'spendState'>, spender: Spender): Asker =>
  askerOf({ remembered: undefined, read: () => requireSpendState(deps, spender) }, spender);

/** Reads the agent's current spend state. Throws when the agent does not exist. */
export async function requireSpendState(
  { spendState }: Pick<ProspectDeps, 'spendState'>,
  { agentId }: Spender,
): Promise<SpendState> {
  const found = await spendState.read(agentId);
  if (found === undefined) throw credentialErrors.invalidKey();
  return found;
}
