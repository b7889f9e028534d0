import type { StandingsReader } from '../controls/standings.ts';
import type { Destination } from '../egress/destination-guard.ts';
import type { GuardedClient, GuardedMethod } from '../egress/guarded-client.ts';
import { refuse } from '../kernel/refuse.ts';
import type { Spender } from '../ledger/ledger.ts';
import type { Standings } from '../ledger/standings.ts';
import { chooseOffer, isPayableBy } from '../x402/offer.ts';
import type { PriceQuotes, QuotedOffer } from './price-quotes.ts';
import { UNRESOLVED } from './vendor-call.ts';

export type ProspectDeps = {
  readonly client: Pick<GuardedClient, 'open'>;
  readonly quotes: PriceQuotes;
  readonly standings: Pick<StandingsReader, 'read'>;
};

/** A call that an agent has in mind. */
export type CallWish = { readonly url: string; readonly method: GuardedMethod };

type Told = { readonly host: string; readonly cached: boolean; readonly atMs: number };

type Failed = { readonly kind: 'failed'; readonly detail: string };
type Free = Told & { readonly kind: 'free' };

/** What the target of such a call says of its price, to everybody. */
export type Asked =
  | Failed
  | Free
  | (Told & { readonly kind: 'priced'; readonly offers: readonly QuotedOffer[] });

/** What such a call would cost one agent. */
export type Prospect =
  | Failed
  | Free
  /** The offer that a payment would choose. */
  | (Told & { readonly kind: 'priced'; readonly offer: QuotedOffer });

/** Asks a target that was judged. Undefined is one whose name does not resolve. */
export async function askTarget(
  { quotes }: Pick<ProspectDeps, 'quotes'>,
  destination: Destination | undefined,
  { method }: CallWish,
): Promise<Asked> {
  if (destination === undefined) return { kind: 'failed', detail: UNRESOLVED };
  const quoted = await quotes.of(destination, method);
  if (quoted.kind === 'failed') return quoted;
  const { quote, cached } = quoted;
  return { ...quote, host: destination.host, cached };
}

/** What it comes to for an agent with this wallet. */
export function prospectOf(asked: Asked, wallet: string | null): Prospect {
  if (asked.kind !== 'priced') return asked;
  const { offers, ...told } = asked;
  const offer = chooseOffer(offers.filter((each) => wallet === null || isPayableBy(each, wallet)));
  return offer === undefined ? { kind: 'failed', detail: PAYS_ITSELF } : { ...told, offer };
}

const PAYS_ITSELF = 'Every usable offer of the target pays the wallet that would pay.';

/** How the agent that asks stands now. */
export async function requireStandings(
  { standings }: Pick<ProspectDeps, 'standings'>,
  { agentId }: Spender,
): Promise<Standings> {
  const found = await standings.read(agentId);
  if (found === undefined) throw refuse.credential.invalidKey();
  return found;
}
