import type { AdminAct, EventRow } from './companion.ts';
import type { CorrectOperation, ReportOperation } from './operation.ts';
import type { NewPayout, ReservationMove } from './payment.ts';
import type {
  Funds,
  Hold,
  HoldRefusal,
  HoldRequest,
  JournalEntry,
  OpenSession,
  SessionClaim,
  SessionEnd,
  SettleRequest,
} from './requests.ts';
import type { Snapshot } from './spend-state.ts';

export type HoldVerdict =
  | {
      readonly kind: 'held';
      readonly hold: Hold;
      readonly funds: Funds;
      /** State of the agent after the hold, for reports of the remaining budget. */
      readonly after?: Snapshot | undefined;
    }
  | { readonly kind: 'refused'; readonly refusal: HoldRefusal };

export type SettleVerdict =
  | {
      readonly kind: 'settled';
      readonly chargedRaw: bigint;
      readonly funds: Funds;
      /** State of the agent after the settlement, for reports of the remaining budget. */
      readonly after?: Snapshot | undefined;
    }
  /** This hold was resolved before, in a different way. Nothing moved. */
  | { readonly kind: 'already_resolved' };

export type WithdrawVerdict = {
  readonly withdrawnRaw: bigint;
  /** True when an earlier call took the amount and this call took nothing. */
  readonly isRepeat: boolean;
  readonly funds: Funds;
};

export type TransferVerdict =
  | {
      readonly kind: 'withdrawn';
      /** True when an earlier call has withdrawn the amount and this call took nothing. */
      readonly isRepeat: boolean;
    }
  /** The balance, or what the wallet backs of it, is less than the amount. Nothing was withdrawn. */
  | { readonly kind: 'insufficient'; readonly availableRaw: bigint };

export type CreditVerdict =
  | { readonly kind: 'credited'; readonly funds: Funds }
  /** An earlier call credited the same amount under the same reference. */
  | { readonly kind: 'already_credited'; readonly funds: Funds }
  /** The reference was used before with another amount. */
  | { readonly kind: 'conflict' }
  /** The amount exceeds the largest possible balance. Nothing was credited. */
  | { readonly kind: 'too_large' }
  | { readonly kind: 'agent_unknown' };

export type OpenSessionVerdict =
  | { readonly kind: 'opened'; readonly claim: SessionClaim; readonly funds: Funds }
  | { readonly kind: 'refused'; readonly refusal: HoldRefusal };

export type ExtendVerdict =
  | { readonly kind: 'extended'; readonly claim: SessionClaim }
  | { readonly kind: 'refused'; readonly refusal: HoldRefusal }
  | { readonly kind: 'lost' };

/**
 * The only way to move an agent's money. Every call returns after its commit, never before the outcome is known. Ids make a
 * repeated call harmless. Rejects only when the database stays away.
 */
export interface Ledger {
  /** Holds an amount; from the spender's reserve when it has one. The hold is written in one commit, or not at all. */
  hold(request: HoldRequest): Promise<HoldVerdict>;
  /**
   * Carries out a refusal that was decided on committed state without a hold: a cap that suspends its agent does so. Returns
   * the refusal for the caller.
   */
  enforce(agentId: number, refusal: HoldRefusal): Promise<HoldRefusal>;
  /**
   * Settles a hold; an actual amount of 0 releases all of it. The remainder of a hold that a reserve lent returns to the
   * reserve in the same commit.
   */
  settle(request: SettleRequest): Promise<SettleVerdict>;
  /** Credits an amount. Idempotent on `reference`. */
  credit(request: {
    agentId: number;
    amountRaw: bigint;
    reference: string;
    events?: readonly EventRow[];
    /** Act of the operator, which is written in the same commit. */
    act?: AdminAct | undefined;
    /** True when the amount is USDC that arrived in the agent's wallet. */
    deposit?: boolean;
  }): Promise<CreditVerdict>;
  /**
   * Takes everything spendable out at a close, and plans the payout of the part that the wallet backs. Idempotent on
   * `reference`; a repeat answers the amount that was taken.
   */
  withdrawAll(request: {
    agentId: number;
    reference: string;
    payout?: NewPayout;
  }): Promise<WithdrawVerdict>;
  /**
   * Withdraws an amount that the wallet backs and plans its payout, in one commit, or does nothing. Idempotent on `reference`: a
   * repeat never gets a refusal of an amount that was withdrawn.
   */
  transfer(request: {
    agentId: number;
    reference: string;
    amountRaw: bigint;
    payout: NewPayout;
  }): Promise<TransferVerdict>;
  funds(agentId: number): Promise<Funds | undefined>;

  /**
   * Moves a reservation on while its hold stays open. `moved`: it is in the state `to`. `lost`: it is in neither of the states
   * `from` and `to`.
   */
  advance(request: {
    agentId: number;
    holdId: string;
    move: ReservationMove;
  }): Promise<'moved' | 'lost'>;
  /** Plans the payout of the amount in a wallet that exceeds all claims. Does nothing when that is less than `leastRaw`. */
  sweep(request: { agentId: number; payout: NewPayout; leastRaw: bigint }): Promise<void>;
  /** Records a payout that was seen on chain. Idempotent. */
  paid(request: {
    agentId: number;
    nonce: string;
    amountRaw: bigint;
    txHash: string;
  }): Promise<void>;
  /**
   * Debits a payment that moved after its release, up to the spendable balance. The remaining amount is a shortfall.
   * Idempotent.
   */
  correct(request: Omit<CorrectOperation, 'kind'>): Promise<void>;

  /**
   * Counts a call that was paid elsewhere under the policies that match it, and writes its row and events in the same commit.
   * `stale`: another report of the call was taken since `before` was read.
   */
  report(request: Omit<ReportOperation, 'kind'>): Promise<'counted' | 'stale' | 'agent_unknown'>;

  /** Opens a session: holds its reserve and writes its row in one commit. */
  openSession(request: OpenSession): Promise<OpenSessionVerdict>;
  /**
   * Extends the session's hold. Refused like a hold; then the earlier hold stays unchanged. `isQuiet` is true for a speculative
   * extension: a cap that suspends its agent refuses it without suspending.
   */
  extend(claim: SessionClaim, byRaw: bigint, isQuiet?: boolean): Promise<ExtendVerdict>;
  /**
   * Gives back a part of the session's hold, which then never grows again. Undefined when another process has the session. If
   * the hold `forHoldId` is requested in the same turn, it takes the part in the same commit, before any other operation of the
   * agent is decided.
   */
  shrink(claim: SessionClaim, byRaw: bigint, forHoldId?: string): Promise<SessionClaim | undefined>;
  /** Journals charges before the client receives the results. `lost` means: close the socket, settle nothing. */
  journal(claim: SessionClaim, entries: readonly JournalEntry[]): Promise<'written' | 'lost'>;
  /** Ends a session: settles its hold to `actualRaw` and ends its row in one commit. */
  closeSession(request: Omit<SettleRequest, 'hold'> & SessionEnd): Promise<SettleVerdict>;

  /**
   * Drops this process's caches of an agent after its status, keys or policies changed. Other processes drop theirs by
   * the rules' version.
   */
  invalidate(agentId: number): void;
  /**
   * Returns the agent's money and rules as the database last confirmed them, at most a second ago. Undefined when this process
   * has no such recent copy. Operations that wait or are in progress are not included.
   */
  recall(agentId: number): Snapshot | undefined;
  /**
   * Resolves once the outcome of every operation that this process has submitted for the agent is known, for readers of its
   * effects.
   */
  settled(agentId: number): Promise<void>;
}
