import { refuseSpend } from '../controls/refuse-spend.ts';
import type { StandingsReader } from '../controls/standings.ts';
import type { ApiError } from '../kernel/api-error.ts';
import { refuse } from '../kernel/refuse.ts';
import { refusalOf, teamRefusalOf } from '../ledger/admit.ts';
import { walletFreeRaw } from '../ledger/decide-payment.ts';
import type { HoldRefusal, Spender } from '../ledger/ledger.ts';
import { factsOf } from '../ledger/operation.ts';
import type { Standings } from '../ledger/standings.ts';
import { refusalOfDestination } from '../policy/allowlist.ts';
import { refusePayment } from './refuse-payment.ts';

/** What is known of the agent before its call is sent on. */
export type AdmittedCall = {
  readonly accountId: string;
  /** Lower case; null until it is provisioned. */
  readonly wallet: string | null;
  /** How it stood to its money and caps when it was admitted. */
  readonly standings: Standings;
};

/** The least that a payment can be. */
const LEAST_RAW = 1n;

/**
 * What can be refused before anything is sent: a host that is on no list, and a cap that is used up. What depends on the
 * price is decided with the hold.
 */
export async function admitCall(
  standings: Pick<StandingsReader, 'read'>,
  spender: Spender,
  host: string,
): Promise<AdmittedCall> {
  const now = await standings.read(spender.agentId);
  if (now === undefined) throw refuse.credential.invalidKey();
  const refusal = refusalBefore(now, spender, host);
  if (refusal !== undefined) throw refusal;
  return { accountId: now.rules.accountId, wallet: now.rules.walletAddress, standings: now };
}

/**
 * What can be refused once the price is known and before anything is signed, by how the agent stood a moment ago. The
 * hold has the last word; a cap that stops its agent is left to it altogether.
 */
export function requirePayable(
  { standings }: AdmittedCall,
  spender: Spender,
  to: { readonly host: string; readonly payee: string },
  amountRaw: bigint,
): void {
  const { rules, moment, counters, teamCounters, state } = standings;
  const demand = {
    ...{ keyId: spender.keyId, amountRaw, counters, facts: factsOf({ spender, destination: to }) },
    taskValueBps: spender.taskValueBps ?? null,
    ...{ spendableRaw: state.spendableRaw, walletFreeRaw: walletFreeRaw(state) },
  };
  const refusal =
    refusalOf(rules, demand, moment) ?? teamRefusalOf(rules, demand, moment, teamCounters);
  if (refusal === undefined || stops(refusal)) return;
  throw refusePayment(refusal);
}

const stops = (refusal: HoldRefusal): boolean =>
  refusal.reason === 'cap_exceeded' && refusal.breach.policy.action === 'suspend_agent';

function refusalBefore(
  { rules, moment, counters, teamCounters }: Standings,
  spender: Spender,
  host: string,
): ApiError | undefined {
  const known = [...rules.policies, ...rules.teamPolicies];
  const to = { host, payee: null };
  const unlisted = refusalOfDestination(rules.allowlistMode, known, to, moment.nowSec);
  if (unlisted !== undefined) return refuseSpend(unlisted);
  if (known.length === 0) return undefined;
  const { keyId, taskValueBps } = spender;
  const facts = factsOf({ spender, destination: to });
  const demand = {
    ...{ keyId, amountRaw: LEAST_RAW, facts, taskValueBps: taskValueBps ?? null, counters },
    // A call that turns out to be free needs no balance.
    spendableRaw: BigInt(Number.MAX_SAFE_INTEGER),
  };
  const refusal =
    refusalOf(rules, demand, moment) ?? teamRefusalOf(rules, demand, moment, teamCounters);
  return refusal && refusePayment(refusal);
}
