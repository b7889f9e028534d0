import { credentialErrors } from '../../accounts/errors.ts';
import type { ApiError } from '../../kernel/api-error.ts';
import { type Demand, refusalOf, teamRefusalOf } from '../../ledger/rules/admit.ts';
import { walletFreeRaw } from '../../ledger/rules/decide-payment.ts';
import type { Ledger } from '../../ledger/rules/ledger.ts';
import { factsOf } from '../../ledger/rules/operation.ts';
import {
  type Destination,
  type HoldRefusal,
  type Spender,
  stopsAgent,
} from '../../ledger/rules/requests.ts';
import type { SpendState } from '../../ledger/rules/spend-state.ts';
import type { Asker } from '../../platform/egress/fair-shares.ts';
import { refusalOfDestination } from '../../policy/allowlist.ts';
import { refuseSpend } from '../../spend/limits/refuse-spend.ts';
import type { SpendStateReader } from '../../spend/limits/spend-state.ts';
import { refusePayment } from './refuse-payment.ts';

/** Spend state of the calling agent: a remembered copy, and a way to read the current one. */
export type AgentView = {
  readonly remembered: SpendState | undefined;
  /** Reads the present state. Throws the refusal when there is no such agent. */
  read(): Promise<SpendState>;
};

/**
 * Returns the agent's view. Starts a read at once when no spend state is remembered, or when the remembered state has no
 * wallet.
 */
export function viewAgent(
  spendState: Pick<SpendStateReader, 'read' | 'recall'>,
  agentId: number,
): AgentView {
  const read = async () => {
    const now = await spendState.read(agentId);
    if (now === undefined) throw credentialErrors.invalidKey();
    return now;
  };
  const remembered = spendState.recall(agentId);
  // The wallet may have been provisioned since the state was remembered, so a state without a wallet is read again.
  if (remembered !== undefined && remembered.rules.walletAddress !== null) {
    return { remembered, read };
  }
  const reading = read();
  // A later await gets the failure; there may be none.
  reading.catch(() => {});
  return { remembered: undefined, read: () => reading };
}

/** Returns the party whose share of connections and lookups a call takes. */
export const askerOf = (
  { read, remembered }: AgentView,
  { accountId, agentId, reserve }: Pick<Spender, 'accountId' | 'agentId' | 'reserve'>,
): Asker => ({
  account: accountId ?? `agent ${agentId}`,
  agent: String(agentId),
  hasMoney: async () => {
    if (reserve !== undefined) return true;
    const isPaying = (spendState?: SpendState) => (spendState?.availableRaw ?? 0n) > 0n;
    return isPaying(remembered) || isPaying(await read());
  },
});

/** An agent whose call was admitted before the request is sent. */
export type AdmittedCall = {
  readonly accountId: string;
  /** Address of the agent's wallet in lower case; null until the wallet is provisioned. */
  readonly wallet: string | null;
  /** Money and caps of the agent when the call was admitted. */
  readonly spendState: SpendState;
  readonly view: AgentView;
};

/** Smallest amount in raw USDC. A cap that leaves less than this amount is used up. */
const LEAST_RAW = 1n;

/**
 * Refuses a call before anything is sent: a host that is on no allowlist, or a cap that is used up. Limits that depend
 * on the price are decided with the hold.
 * A remembered state can only admit: every refusal comes from a fresh reading. The refusal names the vendor's last
 * price (`lastRaw`), or null without one. A used-up kill switch suspends the agent.
 */
export async function admitCall(
  ledger: Pick<Ledger, 'enforce'>,
  view: AgentView,
  spender: Spender,
  {
    host,
    lastRaw,
    refusalOfHold = refusePayment,
  }: {
    readonly host: string;
    readonly lastRaw: bigint | undefined;
    /** Builds the error for a call that a cap refuses. Absent: the proxy's error. */
    readonly refusalOfHold?: RefusalOfHold;
  },
): Promise<AdmittedCall> {
  const { known, isRemembered } = await requireAdmitted(
    view,
    (spendState) => refusalBefore(spendState, spender, host),
    async (refusal) =>
      refusalOfHold(await ledger.enforce(spender.agentId, refusal), lastRaw ?? null),
  );
  return admitted(known, isRemembered ? view : { ...view, remembered: undefined });
}

type RefusalOfHold = (refusal: HoldRefusal, priceRaw: bigint | null) => ApiError;

/**
 * Checks a host against the agent's allowlists, for calls that cost nothing. Throws the refusal when the agent may not call the
 * host.
 */
export async function admitHost(view: AgentView, host: string): Promise<void> {
  await requireAdmitted(view, (spendState) => refusalOfHost(spendState, host), refuseSpend);
}

async function requireAdmitted(
  view: AgentView,
  refusalBy: (spendState: SpendState) => HoldRefusal | undefined,
  tell: (refusal: HoldRefusal) => ApiError | Promise<ApiError>,
): Promise<{ readonly known: SpendState; readonly isRemembered: boolean }> {
  const { remembered } = view;
  if (remembered !== undefined && refusalBy(remembered) === undefined) {
    return { known: remembered, isRemembered: true };
  }
  const known = await view.read();
  const refusal = refusalBy(known);
  if (refusal !== undefined) throw await tell(refusal);
  return { known, isRemembered: false };
}

/** Returns the admission of a call that belongs to a purchase whose agent was already admitted. Nothing is checked again. */
export const admittedBefore = async (view: AgentView): Promise<AdmittedCall> =>
  admitted(view.remembered ?? (await view.read()), view);

const admitted = (spendState: SpendState, view: AgentView): AdmittedCall => ({
  accountId: spendState.rules.accountId,
  wallet: spendState.rules.walletAddress,
  spendState,
  view,
});

/**
 * Returns the refusal of a payment whose price is known and that is not signed yet, by the agent's state at admission.
 * The hold has the last word, and alone decides a cap that suspends its agent.
 */
export async function refusalBeforeHold(
  { spendState, view }: AdmittedCall,
  spender: Spender,
  to: Destination,
  amountRaw: bigint,
): Promise<HoldRefusal | undefined> {
  if (spender.reserve !== undefined) return undefined;
  const judge = (now: SpendState) => {
    const { spendableRaw } = now.state;
    const money = { spendableRaw, walletFreeRaw: walletFreeRaw(now.state) };
    return refusalAt(now, { spender, to, amountRaw, money });
  };
  let refusal = judge(spendState);
  if (refusal !== undefined && view.remembered !== undefined) refusal = judge(await view.read());
  return refusal === undefined || stopsAgent(refusal) ? undefined : refusal;
}

function refusalBefore(now: SpendState, spender: Spender, host: string): HoldRefusal | undefined {
  const unlisted = refusalOfHost(now, host);
  // The reserve of a call counts under the caps already: what it lends is decided with the hold.
  if (unlisted !== undefined || spender.reserve !== undefined) return unlisted;
  const { policies, teamPolicies } = now.rules;
  if (policies.length === 0 && teamPolicies.length === 0) return undefined;
  const to = { host, payee: null };
  return refusalAt(now, { spender, to, amountRaw: LEAST_RAW, money: ANY_MONEY });
}

function refusalOfHost({ rules, position }: SpendState, host: string): HoldRefusal | undefined {
  const known = [...rules.policies, ...rules.teamPolicies];
  const to = { host, payee: null };
  return refusalOfDestination(rules.allowlistMode, known, to, position.nowSec);
}

/** Balance that every call is within: a call that turns out to be free needs no balance. */
const ANY_MONEY = { spendableRaw: BigInt(Number.MAX_SAFE_INTEGER) };

type PaymentRequest = {
  readonly spender: Spender;
  readonly to: Destination;
  readonly amountRaw: bigint;
  readonly money: Pick<Demand, 'spendableRaw' | 'walletFreeRaw'>;
};

function refusalAt(
  { rules, position, counters, teamCounters }: SpendState,
  { spender, to, amountRaw, money }: PaymentRequest,
): HoldRefusal | undefined {
  const { keyId, taskValueBps = null } = spender;
  const facts = factsOf({ spender, destination: to });
  const { isOperators } = to;
  const demand = { keyId, amountRaw, facts, taskValueBps, counters, isOperators, ...money };
  return refusalOf(rules, demand, position) ?? teamRefusalOf(rules, demand, position, teamCounters);
}
