import type { ReservationState } from '../../../machines/reservation.ts';
import type { Counter } from '../../policy/counter.ts';
import type { SpendFacts } from '../../policy/policy.ts';
import type { AdminAct, ChargeRow, EventRow, PlatformCall } from './companion.ts';
import type { Count, TeamCount } from './count.ts';
import type { NewPayout, NewReservation, ReservationMove } from './payment.ts';
import type { Posting } from './posting.ts';
import type { JournalEntry, OpenSession, Spender } from './requests.ts';
import type { SessionSummary } from './session-summary.ts';

/** Agent's row of balances: credited = spendable + held + consumed. Each write checks and raises `version`. */
export type BalanceState = {
  readonly version: bigint;
  /**
   * Version of the agent's rules. It changes with status, keys, expiry or policies; cached rules of another version are void.
   */
  readonly rulesVersion: bigint;
  readonly spendableRaw: bigint;
  readonly heldRaw: bigint;
  readonly creditedRaw: bigint;
  readonly consumedRaw: bigint;
  /** `walletRaw` is the USDC in the agent's wallet by the book. `promisedRaw` is the part in signed, undecided payments. */
  readonly walletRaw: bigint;
  readonly promisedRaw: bigint;
  /** Amounts that count under the agent's own policies. */
  readonly counters: readonly Counter[];
};

/** Changes of the guarded row's amounts. */
export type Delta = {
  readonly spendableRaw: bigint;
  readonly heldRaw: bigint;
  readonly creditedRaw: bigint;
  readonly consumedRaw: bigint;
  readonly walletRaw: bigint;
  readonly promisedRaw: bigint;
};

/** Change of a hold row: opened (`from` null), grown or shrunk, or resolved (`to` null). */
export type HoldChange = {
  readonly holdId: string;
  readonly fromRaw: bigint | null;
  readonly toRaw: bigint | null;
  readonly sessionId: string | null;
  readonly facts: SpendFacts;
};

/** State that a companion row must be in. Otherwise the operation's outcome is `lost` and no money moves. */
export type Guard =
  | { readonly row: 'session'; readonly id: string; readonly epoch: number }
  | {
      readonly row: 'reservation';
      readonly id: string;
      readonly state: ReservationState;
      /** State in which the operation counts as `already` done. Null when its posting decides that. */
      readonly doneAt: ReservationState | null;
    };

/** Row that is written in the same commit as the posting. */
export type Companion =
  | { readonly row: 'charge'; readonly charge: ChargeRow }
  | { readonly row: 'event'; readonly event: EventRow }
  | { readonly row: 'admin.act'; readonly act: AdminAct }
  | {
      readonly row: 'reservation.opened';
      readonly reservation: NewReservation;
      readonly holdId: string;
      readonly spender: Spender;
      readonly valueRaw: bigint;
    }
  | {
      readonly row: 'reservation.moved';
      readonly move: ReservationMove;
      /** True when the reservation has reached its final state, or when the chain has overruled its final state. */
      readonly decided: boolean;
      readonly corrected: boolean;
    }
  | {
      readonly row: 'payout.planned';
      readonly agentId: number;
      readonly payout: NewPayout;
      readonly amountRaw: bigint;
    }
  | { readonly row: 'payout.done'; readonly nonce: string; readonly txHash: string }
  | { readonly row: 'session.opened'; readonly session: OpenSession }
  | {
      readonly row: 'session.ended';
      readonly sessionId: string;
      readonly reason: string;
      readonly summary?: SessionSummary | undefined;
    }
  /** A cap has suspended the agent. The rules' version changes. */
  | { readonly row: 'agent.suspended'; readonly agentId: number; readonly policyId: number }
  | {
      readonly row: 'platform.call';
      readonly call: PlatformCall;
      /** Number of this report among the reports of the call. */
      readonly revision: number;
      /** Amount by which the cost of the call changes. */
      readonly byRaw: bigint;
      readonly isFirst: boolean;
      readonly countedAtMs: number;
      /** Buckets of the team's counters that change by `byRaw`. Empty for a first report, which counts in the present. */
      readonly corrects: readonly TeamCount[];
    }
  | {
      readonly row: 'threshold.crossed';
      readonly thresholdId: number;
      readonly state: 'above' | 'below';
    }
  | {
      readonly row: 'journal';
      readonly sessionId: string;
      readonly epoch: number;
      readonly entry: JournalEntry;
    };

/** One decided operation. It is written completely or not at all. */
export type Change = {
  /**
   * True for a refused operation. Its posting is only looked up and nothing is written, so that a repeated id never gets a
   * refusal.
   */
  readonly probe: boolean;
  /** Movement of money. Null when only rows change. */
  readonly posting: Posting | null;
  readonly delta: Delta;
  readonly hold: HoldChange | null;
  readonly guard: Guard | null;
  /** Change of the policies' counters; null when no policy counts the operation. */
  readonly count: Count | null;
  readonly companions: readonly Companion[];
};

/** All changes of one agent in one batch. */
export type AgentBatch = {
  readonly agentId: number;
  /** State that the batch was decided on. Its version is the fence. */
  readonly before: BalanceState;
  /** State of the row after the batch. While the fence holds, no other process can have moved the row. */
  readonly after: BalanceState;
  /** Number of changes that are written. The remaining changes are only looked up. */
  readonly writes: number;
  /** True when the agent's own counters changed. */
  readonly counted: boolean;
  readonly changes: readonly Change[];
};

/**
 * The database's outcome of one change. `already`: the same posting exists, or the row is in the state after the operation.
 * `conflict`: another posting has its id. `lost`: its guard failed. `mismatch`: its hold is not open at that amount. `capped`:
 * a cap of the team would be exceeded. `again`: the change was not examined.
 */
export type ChangeOutcome =
  | { readonly kind: 'already'; readonly leftRaw: bigint }
  | { readonly kind: 'conflict' | 'lost' | 'again' }
  | { readonly kind: 'mismatch'; readonly openRaw: bigint | null }
  | { readonly kind: 'capped'; readonly policyId: number; readonly spentRaw: bigint };

/** A batch is applied completely or not at all. In both cases its outcome contains the agent's present state. */
export type AgentBatchOutcome =
  | { readonly kind: 'applied'; readonly state: BalanceState }
  | {
      readonly kind: 'declined';
      readonly state: BalanceState;
      /** True when the row had another version: the batch was decided on an old state. */
      readonly stale: boolean;
      readonly outcomes: readonly ChangeOutcome[];
    }
  | { readonly kind: 'agent_unknown' };
