import type { EventRow } from './companion.ts';
import type { CorrectOperation } from './operation.ts';
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
      /** The agent as the hold left it, for reports of what it may still spend. */
      readonly after?: Snapshot | undefined;
    }
  | { readonly kind: 'refused'; readonly refusal: HoldRefusal };

export type SettleVerdict =
  | {
      readonly kind: 'settled';
      readonly chargedRaw: bigint;
      readonly funds: Funds;
      /** The agent as the settlement left it, for reports of what it may still spend. */
      readonly after?: Snapshot | undefined;
    }
  /** This hold was resolved before, in another way. Nothing moved. */
  | { readonly kind: 'already_resolved' };

export type WithdrawVerdict = {
  readonly withdrawnRaw: bigint;
  /** It was taken before; this call has taken nothing. */
  readonly isRepeat: boolean;
  readonly funds: Funds;
};

export type CreditVerdict =
  | { readonly kind: 'credited'; readonly funds: Funds }
  /** The same reference with the same amount: it was credited before. */
  | { readonly kind: 'already_credited'; readonly funds: Funds }
  /** The same reference with another amount. */
  | { readonly kind: 'conflict' }
  /** More than the balance can have. Nothing was credited. */
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
 * The one way to move an agent's money. Every call answers after its commit, never before the outcome
 * is known; ids make a repeated call harmless. Rejects only when the database stays away.
 */
export interface Ledger {
  /** Out of the reserve of its spender, where that has one: in one commit, or not at all. */
  hold(request: HoldRequest): Promise<HoldVerdict>;
  /**
   * Carries out a refusal that was decided on committed state without asking for a hold: a cap that suspends its agent
   * does so. Returns the refusal as it is to be told.
   */
  enforce(agentId: number, refusal: HoldRefusal): Promise<HoldRefusal>;
  /** Actual 0 releases the whole hold. What is left of one that a reserve lent is the reserve's in the same commit. */
  settle(request: SettleRequest): Promise<SettleVerdict>;
  /** Idempotent on `reference`. */
  credit(request: {
    agentId: number;
    amountRaw: bigint;
    reference: string;
    events?: readonly EventRow[];
    /** It is USDC that came into the agent's wallet. */
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
  funds(agentId: number): Promise<Funds | undefined>;

  /**
   * Moves a reservation on while its hold stays open. `moved`: it is where the move ends. `lost`: it is neither there
   * nor where the move starts.
   */
  advance(request: {
    agentId: number;
    holdId: string;
    move: ReservationMove;
  }): Promise<'moved' | 'lost'>;
  /** Plans the payout of what a wallet holds beyond all claims; nothing where that is less than `leastRaw`. */
  sweep(request: { agentId: number; payout: NewPayout; leastRaw: bigint }): Promise<void>;
  /** A payout was seen on chain. Idempotent. */
  paid(request: {
    agentId: number;
    nonce: string;
    amountRaw: bigint;
    txHash: string;
  }): Promise<void>;
  /** Debits a payment that moved after its release, as far as funds reach; the rest is a shortfall. Idempotent. */
  correct(request: Omit<CorrectOperation, 'kind'>): Promise<void>;

  /** Holds the reserve and writes the session row in one commit. */
  openSession(request: OpenSession): Promise<OpenSessionVerdict>;
  /**
   * Adds to the session's hold. Refused like a hold; the old hold stays as it was. `isQuiet`: it is speculative, and a
   * cap that stops its agent refuses it without doing so.
   */
  extend(claim: SessionClaim, byRaw: bigint, isQuiet?: boolean): Promise<ExtendVerdict>;
  /**
   * Gives a part of the session's hold back, which then never grows again. Undefined: another process has the session.
   * The hold `forHoldId`, where it is asked for in the same turn, takes the part in the same commit, before anything else
   * of the agent is decided.
   */
  shrink(claim: SessionClaim, byRaw: bigint, forHoldId?: string): Promise<SessionClaim | undefined>;
  /** Writes what was bought before the client receives it. `lost` means: close the socket, settle nothing. */
  journal(claim: SessionClaim, entries: readonly JournalEntry[]): Promise<'written' | 'lost'>;
  /** Settles the hold to `actualRaw` and ends the session row. */
  closeSession(request: Omit<SettleRequest, 'hold'> & SessionEnd): Promise<SettleVerdict>;

  /**
   * Drops this process's caches of an agent after its status, keys or policies changed. Other processes drop theirs by
   * the rules' version.
   */
  invalidate(agentId: number): void;
  /**
   * The agent's money and rules as the database had them at its last word, a second ago at most. Undefined where this
   * process does not know them so well. What waits or is under way is not in it.
   */
  recall(agentId: number): Snapshot | undefined;
  /** Resolves once what this process has asked for of the agent so far is known, for readers of its effects. */
  settled(agentId: number): Promise<void>;
}
