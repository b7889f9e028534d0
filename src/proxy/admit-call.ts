import { refuseSpend } from '../controls/refuse-spend.ts';
import type { StandingsReader } from '../controls/standings.ts';
import type { ApiError } from '../kernel/api-error.ts';
import { refuse } from '../kernel/refuse.ts';
import { type Demand, refusalOf, teamRefusalOf } from '../ledger/admit.ts';
import { walletFreeRaw } from '../ledger/decide-payment.ts';
import type { Destination, HoldRefusal, Spender } from '../ledger/ledger.ts';
import { factsOf } from '../ledger/operation.ts';
import type { Standings } from '../ledger/standings.ts';
import { refusalOfDestination } from '../policy/allowlist.ts';
import { refusePayment } from './refuse-payment.ts';

/** How the agent of a call stands: as it is remembered, or as it is read while other things are done. */
export type AgentView = {
  readonly remembered: Standings | undefined;
  /** As it stands now. Throws the refusal where there is no such agent. */
  read(): Promise<Standings>;
};

/** Begins to read where nothing is remembered that could let a call through. */
export function viewAgent(
  standings: Pick<StandingsReader, 'read' | 'recall'>,
  agentId: number,
): AgentView {
  const read = async () => {
    const now = await standings.read(agentId);
    if (now === undefined) throw refuse.credential.invalidKey();
    return now;
  };
  const remembered = standings.recall(agentId);
  // A wallet that is not there yet may be by now.
  if (remembered !== undefined && remembered.rules.walletAddress !== null) {
    return { remembered, read };
  }
  const reading = read();
  // Whoever wants it hears of its failure; nobody may want it.
  reading.catch(() => {});
  return { remembered: undefined, read: () => reading };
}

/** What is known of the agent before its call is sent on. */
export type AdmittedCall = {
  readonly accountId: string;
  /** Lower case; null until it is provisioned. */
  readonly wallet: string | null;
  /** How it stood to its money and caps when it was admitted. */
  readonly standings: Standings;
  readonly view: AgentView;
};

/** A cap is used up where it leaves nothing for the least amount that there is. */
const LEAST_RAW = 1n;

/**
 * What can be refused before anything is sent: a host that is on no list, and a cap that is used up. What depends on the
 * price is decided with the hold. What is remembered only lets through: a refusal is by what is so now. It tells the
 * price that the vendor asked for last, or null where that is not known.
 */
export async function admitCall(
  view: AgentView,
  spender: Spender,
  { host, lastRaw }: { readonly host: string; readonly lastRaw: bigint | undefined },
): Promise<AdmittedCall> {
  const { remembered } = view;
  const refusalBy = (standings: Standings) =>
    refusalBefore(standings, spender, host, lastRaw ?? null);
  if (remembered !== undefined && refusalBy(remembered) === undefined) {
    return admitted(remembered, view);
  }
  const now = await view.read();
  const refusal = refusalBy(now);
  if (refusal !== undefined) throw refusal;
  return admitted(now, { ...view, remembered: undefined });
}

/** The same of an agent that has been admitted to a purchase which this call is a part of. */
export const admittedBefore = async (view: AgentView): Promise<AdmittedCall> =>
  admitted(view.remembered ?? (await view.read()), view);

const admitted = (standings: Standings, view: AgentView): AdmittedCall => ({
  accountId: standings.rules.accountId,
  wallet: standings.rules.walletAddress,
  ...{ standings, view },
});

/**
 * What can be refused once the price is known and before anything is signed, by how the agent stood a moment ago. The
 * hold has the last word; a cap that stops its agent is left to it altogether.
 */
export async function refusalBeforeHold(
  { standings, view }: AdmittedCall,
  spender: Spender,
  to: Destination,
  amountRaw: bigint,
): Promise<HoldRefusal | undefined> {
  const judge = (now: Standings) => {
    const { spendableRaw } = now.state;
    const money = { spendableRaw, walletFreeRaw: walletFreeRaw(now.state) };
    return refusalAt(now, { spender, to, amountRaw, money });
  };
  let refusal = judge(standings);
  if (refusal !== undefined && view.remembered !== undefined) refusal = judge(await view.read());
  return refusal === undefined || stops(refusal) ? undefined : refusal;
}

const stops = (refusal: HoldRefusal): boolean =>
  refusal.reason === 'cap_exceeded' && refusal.breach.policy.action === 'suspend_agent';

function refusalBefore(
  now: Standings,
  spender: Spender,
  host: string,
  priceRaw: bigint | null,
): ApiError | undefined {
  const { rules, moment } = now;
  const known = [...rules.policies, ...rules.teamPolicies];
  const to = { host, payee: null };
  const unlisted = refusalOfDestination(rules.allowlistMode, known, to, moment.nowSec);
  if (unlisted !== undefined) return refuseSpend(unlisted);
  if (known.length === 0) return undefined;
  const refusal = refusalAt(now, { spender, to, amountRaw: LEAST_RAW, money: ANY_MONEY });
  return refusal && refusePayment(refusal, priceRaw);
}

/** A call that turns out to be free needs no balance. */
const ANY_MONEY = { spendableRaw: BigInt(Number.MAX_SAFE_INTEGER) };

type Wish = {
  readonly spender: Spender;
  readonly to: Destination;
  readonly amountRaw: bigint;
  readonly money: Pick<Demand, 'spendableRaw' | 'walletFreeRaw'>;
};

function refusalAt(
  { rules, moment, counters, teamCounters }: Standings,
  { spender, to, amountRaw, money }: Wish,
): HoldRefusal | undefined {
  const { keyId, taskValueBps = null } = spender;
  const facts = factsOf({ spender, destination: to });
  const { isOperators } = to;
  const demand = { keyId, amountRaw, facts, taskValueBps, counters, isOperators, ...money };
  return refusalOf(rules, demand, moment) ?? teamRefusalOf(rules, demand, moment, teamCounters);
}
