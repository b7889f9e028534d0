import type { AllowlistRefusal } from '../../policy/allowlist.ts';
import type { Breach } from '../../policy/evaluate.ts';
import type { SpendFacts } from '../../policy/policy.ts';
import type { SpendAccount } from './accounts.ts';
import type { ChargeRow, EventRow } from './companion.ts';
import type { NewReservation, ReservationMove } from './payment.ts';
import type { SessionSummary } from './session-summary.ts';

/** An agent's money, to the raw unit: credited = spendable + held + consumed. */
export type Funds = {
  readonly spendableRaw: bigint;
  readonly heldRaw: bigint;
};

/** The caller that spends, by the fields that spend controls and attribution use. */
export type Spender = {
  readonly agentId: number;
  /** The developer's account, where the request names it. */
  readonly accountId?: string;
  /** The agent key of the request. A revoked key is refused at its next hold, in every process. */
  readonly keyId?: number;
  /** The first key of its line of rotations, whose budget it spends; absent: it is the first itself. */
  readonly keyRootId?: number;
  /** Worth of the task to its caller, as a factor in bps: 10000 is once. */
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
  /** The operator chose it, as a source of a model: no allowlist gates it. */
  readonly isOperators?: boolean | undefined;
};

/** An upper bound set aside. Its holder settles or releases it exactly once. */
export type Hold = {
  readonly holdId: string;
  readonly agentId: number;
  readonly amountRaw: bigint;
  /** Under which policies it counts, while it is open and when it is settled. */
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
      /** The cap was a kill switch, and the agent is suspended now. */
      readonly suspended: boolean;
    };

/** True for a refusal by a cap that suspends its agent. */
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
  /** Less may do: a cap that stops its agent refuses this much without doing so. */
  readonly isQuiet?: boolean;
};

export type SettleRequest = {
  readonly hold: Hold;
  /** Cost of the work. At most the hold is charged; the excess is a shortfall of the source. */
  readonly actualRaw: bigint;
  /** Part of the cost that the agent is billed, when its source reports more than the work can have used. */
  readonly billableRaw?: bigint;
  readonly account: SpendAccount;
  /** Names the upstream in `shortfall:<source>`. */
  readonly source: string;
  /** Returns the charge rows of the purchase, which are written in the same commit. Their costs add up to `chargedRaw`. */
  readonly charges?: (chargedRaw: bigint) => readonly ChargeRow[];
  readonly events?: readonly EventRow[];
  /** The end of the reservation that this hold is for: `already_resolved` where its row is not where it starts. */
  readonly move?: ReservationMove;
};

/** A living session's claim on its hold. The epoch is raised when another process takes it over. */
export type SessionClaim = {
  readonly sessionId: string;
  readonly epoch: number;
  readonly hold: Hold;
  /** Number of times that the hold has shrunk under this epoch; it names the next step. */
  readonly shrinks?: number;
  /** The agent key that opened the session; once it is revoked, nothing more is held. */
  readonly keyId?: number;
  /** Worth of the task to its caller, as a factor in bps. It applies to later holds, too. */
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
  /** Less may do: a cap that stops its agent refuses this much without doing so. */
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
  /** The last line of its journal; 0: there is none. */
  readonly seq: number;
};

/** A finished piece of a session (a turn, ten seconds of audio) with its price. */
export type JournalEntry = {
  readonly seq: number;
  readonly costRaw: bigint;
  readonly usage: Readonly<Record<string, number>>;
};
