import type { SpendFacts } from '../../policy/policy.ts';
import {
  type AdminAct,
  type ChargeRow,
  callKeyOf,
  type EventRow,
  type PlatformCall,
} from './companion.ts';
import type { NewPayout, NewReservation, ReservationMove } from './payment.ts';
import type {
  Destination,
  Hold,
  JournalEntry,
  OpenSession,
  SessionClaim,
  SessionEnd,
  SettleRequest,
  Spender,
} from './requests.ts';

export type HoldOperation = {
  readonly kind: 'hold';
  readonly agentId: number;
  readonly spender: Spender;
  readonly holdId: string;
  readonly amountRaw: bigint;
  readonly destination: Destination;
  /** Session to open in the same commit; its hold has the session's id. Null when the hold opens no session. */
  readonly session: OpenSession | null;
  /** Writes the signed payment in the same commit. The wallet's free amount bounds it, too. */
  readonly reservation: NewReservation | null;
};

export type ExtendOperation = {
  readonly kind: 'extend';
  readonly agentId: number;
  readonly claim: SessionClaim;
  readonly byRaw: bigint;
  /** The hold that was lent out of the session's, whose rest comes back. */
  readonly lentHoldId?: string | undefined;
};

/** Releases a part of a session's hold. */
export type ShrinkOperation = {
  readonly kind: 'shrink';
  readonly agentId: number;
  readonly claim: SessionClaim;
  readonly byRaw: bigint;
  /** Id of the hold that takes the part. Its operation is in the same batch, with no operation between the two. */
  readonly forHoldId: string | undefined;
  /** True when the part is lent to that hold. If that hold is refused, the part stays in the session's hold. */
  readonly isLoan?: boolean;
};

export type SettleOperation = {
  readonly kind: 'settle';
  readonly agentId: number;
  readonly hold: Hold;
  readonly request: Omit<SettleRequest, 'hold'>;
  /**
   * End of the session, written in the same commit unless another process has taken the session over. Null: no session ends.
   */
  readonly ends: SessionEnd | null;
  /**
   * Last move of the hold's reservation, written in the same commit unless another process has moved it. Null: no reservation.
   */
  readonly move: ReservationMove | null;
};

export type CreditOperation = {
  readonly kind: 'credit';
  readonly agentId: number;
  readonly amountRaw: bigint;
  readonly reference: string;
  readonly events: readonly EventRow[];
  /** Act of the operator that credits the amount. Undefined for money that came in by itself. */
  readonly act?: AdminAct | undefined;
  /** True when the amount arrived as USDC in the agent's wallet. */
  readonly deposit: boolean;
};

export type WithdrawOperation = {
  readonly kind: 'withdraw';
  readonly agentId: number;
  readonly reference: string;
  /**
   * Amount to withdraw, which the wallet must back; refused when the balance or the wallet has less. Absent: the whole
   * spendable balance, whatever backs it.
   */
  readonly amountRaw?: bigint;
  /** Payout of the part that the wallet backs; null when there is no payee. */
  readonly payout: NewPayout | null;
};

export type JournalOperation = {
  readonly kind: 'journal';
  readonly agentId: number;
  readonly claim: SessionClaim;
  readonly entries: readonly JournalEntry[];
};

/** Suspends an agent that crossed a cap with this action. The agent cannot spend until its owner resumes it. */
export type SuspendOperation = {
  readonly kind: 'suspend';
  readonly agentId: number;
  readonly policyId: number;
};

/** Moves a reservation to another state without changing its hold. */
export type AdvanceOperation = {
  readonly kind: 'advance';
  readonly agentId: number;
  readonly holdId: string;
  readonly move: ReservationMove;
};

/** Pays out to the operator the USDC in a wallet that its agent cannot claim. */
export type SweepOperation = {
  readonly kind: 'sweep';
  readonly agentId: number;
  readonly payout: NewPayout;
  /** Smallest amount that is paid out. A smaller amount is not worth its gas. */
  readonly leastRaw: bigint;
};

/** Records a payout that was seen on chain: the wallet's amount falls by it. */
export type PaidOperation = {
  readonly kind: 'paid';
  readonly agentId: number;
  readonly nonce: string;
  readonly amountRaw: bigint;
  readonly txHash: string;
};

/** Debits a payment that moved on chain although its hold had been released. */
export type CorrectOperation = {
  readonly kind: 'correct';
  readonly agentId: number;
  readonly amountRaw: bigint;
  readonly facts: SpendFacts;
  /** The move from the reservation's final state to the same state. */
  readonly move: ReservationMove;
  /** Null when the payment has its charge row and counts under its caps, because it was settled before. */
  readonly charge: ((chargedRaw: bigint) => ChargeRow) | null;
};

/** The row that a report replaces. */
export type CountedCall = {
  /** Number of reports that the row has taken. */
  readonly revision: number;
  readonly costRaw: bigint;
  /** Unix milliseconds at which the call began to count. Its cost counts at that time, also after a correction. */
  readonly countedAtMs: number;
};

/** Counts a call that a platform has charged elsewhere: no balance moves. The cost is spent already, so no cap refuses it. */
export type ReportOperation = {
  readonly kind: 'report';
  readonly agentId: number;
  readonly call: PlatformCall;
  /** Null for the first report of the call. */
  readonly before: CountedCall | null;
  readonly events: readonly EventRow[];
};

/** All operations on one agent's balance. Its money moves in no other way. */
export type Operation =
  | HoldOperation
  | ExtendOperation
  | ShrinkOperation
  | SettleOperation
  | CreditOperation
  | WithdrawOperation
  | SuspendOperation
  | JournalOperation
  | AdvanceOperation
  | SweepOperation
  | PaidOperation
  | CorrectOperation
  | ReportOperation;

/**
 * Returns a key for operations that must not share a batch: the second operation with a key is decided on the outcome of the
 * first. Undefined when the operation may share a batch with any other.
 */
export function exclusiveKey(operation: Operation): string | undefined {
  switch (operation.kind) {
    case 'hold':
      return operation.holdId;
    case 'extend':
    case 'shrink':
      return operation.claim.hold.holdId;
    case 'settle':
      return operation.hold.holdId;
    case 'credit':
      return `credit:${operation.reference}`;
    case 'withdraw':
      return `withdraw:${operation.reference}`;
    case 'suspend':
      return 'suspend';
    case 'advance':
      return operation.holdId;
    case 'sweep':
      return 'sweep';
    case 'paid':
      return `paid:${operation.nonce}`;
    case 'correct':
      return `correct:${operation.move.nonce}`;
    case 'report':
      return `report:${callKeyOf(operation.call)}`;
    case 'journal':
      return undefined;
  }
}

/** Returns the facts of a hold that spend controls match. They are fixed for the hold's whole life. */
export const factsOf = (operation: Pick<HoldOperation, 'spender' | 'destination'>): SpendFacts => ({
  keyRootId: operation.spender.keyRootId ?? operation.spender.keyId ?? null,
  taskId: operation.spender.taskId ?? null,
  host: operation.destination.host,
  payee: operation.destination.payee,
});

/** Facts by which policies count a call. */
export const factsOfCall = ({
  host,
  taskId,
}: Pick<PlatformCall, 'host' | 'taskId'>): SpendFacts => ({
  keyRootId: null,
  taskId,
  host,
  payee: null,
});
