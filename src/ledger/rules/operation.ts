import type { SpendFacts } from '../../policy/policy.ts';
import type { ChargeRow, EventRow } from './companion.ts';
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
  /** Opens the session in the same commit; its hold has the session's id. */
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

/** A part of a session's hold is free again. */
export type ShrinkOperation = {
  readonly kind: 'shrink';
  readonly agentId: number;
  readonly claim: SessionClaim;
  readonly byRaw: bigint;
  /** The hold that takes the part: its operation shares the batch, with none between the two. */
  readonly forHoldId: string | undefined;
  /** The part is lent to that hold: without the hold it stays where it is. */
  readonly isLoan?: boolean;
};

export type SettleOperation = {
  readonly kind: 'settle';
  readonly agentId: number;
  readonly hold: Hold;
  readonly request: Omit<SettleRequest, 'hold'>;
  /** Ends the session in the same commit, unless another process has taken it over. */
  readonly ends: SessionEnd | null;
  /** Moves the reservation of this hold to its final state in the same commit, unless another process has. */
  readonly move: ReservationMove | null;
};

export type CreditOperation = {
  readonly kind: 'credit';
  readonly agentId: number;
  readonly amountRaw: bigint;
  readonly reference: string;
  readonly events: readonly EventRow[];
  /** True when the amount arrived as USDC in the agent's wallet. */
  readonly deposit: boolean;
};

export type WithdrawOperation = {
  readonly kind: 'withdraw';
  readonly agentId: number;
  readonly reference: string;
  /** Payout of the part that the wallet backs; null when there is no payee. */
  readonly payout: NewPayout | null;
};

export type JournalOperation = {
  readonly kind: 'journal';
  readonly agentId: number;
  readonly claim: SessionClaim;
  readonly entries: readonly JournalEntry[];
};

/** A cap that stops its agent was crossed: the agent spends nothing until its owner resumes it. */
export type SuspendOperation = {
  readonly kind: 'suspend';
  readonly agentId: number;
  readonly policyId: number;
};

/** A step of a reservation that leaves its hold as it is. */
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
  /** Less is not worth its gas. */
  readonly leastRaw: bigint;
};

/** A payout was seen on chain: the wallet holds that much less. */
export type PaidOperation = {
  readonly kind: 'paid';
  readonly agentId: number;
  readonly nonce: string;
  readonly amountRaw: bigint;
  readonly txHash: string;
};

/** A payment moved on chain although its money had been given back: it is debited after all. */
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
  | CorrectOperation;

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
