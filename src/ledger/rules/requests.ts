import type { AllowlistRefusal } from '../../policy/allowlist.ts';
import type { Breach } from '../../policy/evaluate.ts';
import type { SpendFacts } from '../../policy/policy.ts';
import type { SpendAccount } from './accounts.ts';
import type { ChargeRow, EventRow } from './companion.ts';
import type { NewReservation, ReservationMove } from './payment.ts';
import type { SessionSummary } from './session-summary.ts';

/** Balances of an agent, exact to the raw unit: credited = spendable + held + consumed. */
export type Funds = {
  readonly spendableRaw: bigint;
  readonly heldRaw: bigint;
};

/** The caller that spends, by the fields that spend controls and attribution use. */
export type Spender = {
  readonly agentId: number;
  /** Developer's account. Absent when the request does not name it. */
  readonly accountId?: string;
  /** Agent key of the request. A revoked key is refused at its next hold, in every process. */
  readonly keyId?: number;
  /** First key in the line of rotations of the caller's key. Its budget is spent. Absent: the key is the first itself. */
  readonly keyRootId?: number;
  /** Factor in bps by which the caller values the task: 10000 is once. */
  readonly taskValueBps?: number;
  readonly taskId?: string;
  readonly actionId?: string;
  readonly customerId?: string;
  /** The reserve of the live call that pays. Holds are taken from the reserve instead of the balance. */
  readonly reserve?: Reserve;
};

/** The hold of a live call, which lends to the purchases within the call and takes back their remainders. */
export interface Reserve {
  /**
   * Runs work on the claim of the call, in order with everything else that changes its hold. The claim is undefined once the
   * call is settled. `lendableRaw` is the part that is neither spent nor kept for the turn in progress.
   */
  use<T>(work: ReserveWork<T>): Promise<T>;
}

export type ReserveWork<T> = (
  claim: SessionClaim | undefined,
  lendableRaw: bigint,
) => Promise<UsedReserve<T>>;

export type UsedReserve<T> = {
  readonly result: T;
  /** The claim after the work. Undefined: unchanged. `lost`: another process has the session. */
  readonly claim: SessionClaim | 'lost' | undefined;
};

/** Recipient of the money, as spend controls see it. */
export type Destination = {
  /** A vendor's host, or the maker of a model; null when spend controls have no name for the recipient. */
  readonly host: string | null;
  /** A vendor's wallet, lower case, when the money is paid directly to that wallet. */
  readonly payee: string | null;
  /** True when the operator chose the recipient as a source of a model, so that no allowlist applies. */
  readonly isOperators?: boolean | undefined;
};

/** Upper bound of a cost, set aside from the balance. The holder settles or releases it exactly once. */
export type Hold = {
  readonly holdId: string;
  readonly agentId: number;
  readonly amountRaw: bigint;
  /** Facts that decide under which policies the amount counts, both while it is held and after it is settled. */
  readonly facts: SpendFacts;
  /** The reserve that lent the hold and takes back its remainder. Known only to the process that has the reserve. */
  readonly lender?: Reserve;
};

export type HoldRefusal =
  | {
      readonly reason: 'insufficient_balance';
      readonly availableRaw: bigint;
      readonly requiredRaw: bigint;
    }
  /** The reserve of a call, or the limit of one of its tools, leaves less than the purchase needs. */
  | {
      readonly reason: 'reserve_exceeded';
      readonly availableRaw: bigint;
      readonly requiredRaw: bigint;
    }
  | { readonly reason: 'agent_suspended' | 'agent_closed' | 'agent_not_active' | 'agent_unknown' }
  | { readonly reason: 'delegation_expired' | 'key_revoked' }
  /** A credit that would bring all credits of the agent above the largest amount. */
  | { readonly reason: 'balance_full' }
  | AllowlistRefusal
  | {
      readonly reason: 'cap_exceeded';
      readonly breach: Breach;
      /** The largest amount that the checked caps would allow now. */
      readonly availableRaw: bigint;
      /** True when the cap has suspended the agent. */
      readonly suspended: boolean;
    };

/** Returns true when the refusing cap suspends its agent. */
export const stopsAgent = (
  refusal: HoldRefusal,
): refusal is Extract<HoldRefusal, { reason: 'cap_exceeded' }> =>
  refusal.reason === 'cap_exceeded' && refusal.breach.policy.action === 'suspend_agent';

export type HoldRequest = {
  readonly spender: Spender;
  readonly holdId: string;
  readonly amountRaw: bigint;
  readonly destination: Destination;
  /** A signed payment to a vendor, written in the same commit. The wallet's free amount bounds it, too. */
  readonly reservation?: NewReservation;
  /** True when the caller would accept a smaller amount. A cap that suspends its agent then refuses without suspending. */
  readonly isQuiet?: boolean;
};

export type SettleRequest = {
  readonly hold: Hold;
  /** Cost of the work. At most the hold is charged; the excess is a shortfall of the source. */
  readonly actualRaw: bigint;
  /** Part of the cost that the agent is billed, when its source reports more than the work can have used. */
  readonly billableRaw?: bigint;
  readonly account: SpendAccount;
  /** Name of the upstream in the account `shortfall:<source>`. */
  readonly source: string;
  /** Returns the charge rows of the purchase, which are written in the same commit. Their costs add up to `chargedRaw`. */
  readonly charges?: (chargedRaw: bigint) => readonly ChargeRow[];
  readonly events?: readonly EventRow[];
  /** Last move of this hold's reservation. The outcome is `already_resolved` when its row is not in the state `from`. */
  readonly move?: ReservationMove;
};

/** Claim of a live session on its hold. Another process that takes the session over raises the epoch. */
export type SessionClaim = {
  readonly sessionId: string;
  readonly epoch: number;
  readonly hold: Hold;
  /** Number of times that the hold has shrunk under this epoch; it names the next step. */
  readonly shrinks?: number;
  /** Agent key that opened the session. Once it is revoked, further holds are refused. */
  readonly keyId?: number;
  /** Factor in bps by which the caller values the task. It applies to later holds, too. */
  readonly taskValueBps?: number;
};

export type OpenSession = {
  readonly spender: Spender;
  readonly sessionId: string;
  readonly reserveRaw: bigint;
  readonly kind: 'transcription' | 'realtime' | 'call';
  /** Target of the session's charge row, in case another process has to settle it. */
  readonly target: string;
  readonly model: string;
  readonly destination: Destination;
  readonly account: SpendAccount;
  /** True when the caller would accept a smaller amount. A cap that suspends its agent then refuses without suspending. */
  readonly isQuiet?: boolean;
};

/** End of a session: its reason, and a summary when its process lived to report it. */
export type SessionEnd = {
  readonly claim: SessionClaim;
  readonly reason: string;
  readonly summary?: SessionSummary | undefined;
};

/** A living session that this process has taken over, with its charges up to then. */
export type TakenSession = {
  readonly claim: SessionClaim;
  readonly spentRaw: bigint;
  readonly usage: Readonly<Record<string, number>>;
  /** Sequence number of the journal's last line; 0 when the journal is empty. */
  readonly seq: number;
};

/** A finished piece of a session (a turn, ten seconds of audio) with its price. */
export type JournalEntry = {
  readonly seq: number;
  readonly costRaw: bigint;
  readonly usage: Readonly<Record<string, number>>;
};
