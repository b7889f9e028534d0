import type { AllowlistRefusal } from '../policy/allowlist.ts';
import type { Breach } from '../policy/evaluate.ts';
import type { SpendFacts } from '../policy/policy.ts';
import type { SpendAccount } from './accounts.ts';
import type { ChargeRow, EventRow } from './companion.ts';
import type { CorrectOperation } from './operation.ts';
import type { NewPayout, NewReservation, ReservationMove } from './payment.ts';
import type { SessionSummary } from './session-summary.ts';
import type { Snapshot } from './standings.ts';

/** An agent's money, to the raw unit: credited = spendable + held + consumed. */
export type Funds = {
  readonly spendableRaw: bigint;
  readonly heldRaw: bigint;
};

/** Who asks to spend, as far as spend controls and attribution care. */
export type Spender = {
  readonly agentId: number;
  /** The agent key that asks; a revoked one is refused at its next hold, in every process. */
  readonly keyId?: number;
  /** The first key of its line of rotations, whose budget it spends; absent: it is the first itself. */
  readonly keyRootId?: number;
  /** What the task is worth to the caller, 10000 being once. */
  readonly taskValueBps?: number;
  readonly taskId?: string;
  readonly actionId?: string;
  readonly customerId?: string;
};

/** Where the money is to go. */
export type Destination = {
  /** A vendor's host, or the maker of a model; null where spend controls know no name for it. */
  readonly host: string | null;
  /** A vendor's wallet, lower case, where the money goes straight to it. */
  readonly payee: string | null;
  /** The operator chose it, as a source of a model: no allowlist gates it. */
  readonly isOperators?: boolean | undefined;
};

/** An upper bound set aside. Whoever has it settles or releases it exactly once. */
export type Hold = {
  readonly holdId: string;
  readonly agentId: number;
  readonly amountRaw: bigint;
  /** Under which policies it counts, while it is open and when it is settled. */
  readonly facts: SpendFacts;
};

export type HoldRefusal =
  | {
      readonly reason: 'insufficient_balance';
      readonly availableRaw: bigint;
      readonly requiredRaw: bigint;
    }
  | { readonly reason: 'agent_suspended' | 'agent_closed' | 'agent_not_active' | 'agent_unknown' }
  | { readonly reason: 'delegation_expired' | 'key_revoked' }
  | AllowlistRefusal
  | {
      readonly reason: 'cap_exceeded';
      readonly breach: Breach;
      /** The most that the caps which were asked would let pass now. */
      readonly availableRaw: bigint;
      /** The cap was a kill switch, and the agent is suspended now. */
      readonly suspended: boolean;
    };

export type HoldRequest = {
  readonly spender: Spender;
  readonly holdId: string;
  readonly amountRaw: bigint;
  readonly destination: Destination;
  /** A signed payment to a vendor, written in the same commit. What the wallet has left bounds it, too. */
  readonly reservation?: NewReservation;
  /** Less may do: a cap that stops its agent refuses this much without doing so. */
  readonly isQuiet?: boolean;
};

export type HoldVerdict =
  | {
      readonly kind: 'held';
      readonly hold: Hold;
      readonly funds: Funds;
      /** The agent as the hold left it, for whoever tells what it may still spend. */
      readonly after?: Snapshot | undefined;
    }
  | { readonly kind: 'refused'; readonly refusal: HoldRefusal };

export type SettleRequest = {
  readonly hold: Hold;
  /** What the work cost. No more than the hold is taken of it; the rest is a shortfall of the source. */
  readonly actualRaw: bigint;
  /** What of that the agent is billed, where its source tells more than the work can have come to. */
  readonly billableRaw?: bigint;
  readonly account: SpendAccount;
  /** Names the upstream in `shortfall:<source>`. */
  readonly source: string;
  /** The row that says what was bought; written in the same commit, with what was really charged. */
  readonly charge?: (chargedRaw: bigint) => ChargeRow;
  readonly events?: readonly EventRow[];
  /** The end of the reservation that this hold is for: `already_resolved` where its row is not where it starts. */
  readonly move?: ReservationMove;
};

export type SettleVerdict =
  | {
      readonly kind: 'settled';
      readonly chargedRaw: bigint;
      readonly funds: Funds;
      /** The agent as the settlement left it, for whoever tells what it may still spend. */
      readonly after?: Snapshot | undefined;
    }
  /** Somebody resolved this hold before, in another way. Nothing moved. */
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
  | { readonly kind: 'agent_unknown' };

/** A living session's claim on its hold. The epoch is raised when another process takes it over. */
export type SessionClaim = {
  readonly sessionId: string;
  readonly epoch: number;
  readonly hold: Hold;
  /** What the task is worth to whoever opened it, which goes for what it holds later, too. */
  readonly taskValueBps?: number;
};

export type OpenSession = {
  readonly spender: Spender;
  readonly sessionId: string;
  readonly reserveRaw: bigint;
  readonly kind: 'transcription' | 'realtime' | 'call';
  /** What the session's charge row will say if another process has to settle it. */
  readonly target: string;
  readonly model: string;
  readonly destination: Destination;
  readonly account: SpendAccount;
  /** Less may do: a cap that stops its agent refuses this much without doing so. */
  readonly isQuiet?: boolean;
};

/** How a session ends: why, and how it went where somebody lived to tell. */
export type SessionEnd = {
  readonly claim: SessionClaim;
  readonly reason: string;
  readonly summary?: SessionSummary | undefined;
};

export type OpenSessionVerdict =
  | { readonly kind: 'opened'; readonly claim: SessionClaim; readonly funds: Funds }
  | { readonly kind: 'refused'; readonly refusal: HoldRefusal };

export type ExtendVerdict =
  | { readonly kind: 'extended'; readonly claim: SessionClaim }
  | { readonly kind: 'refused'; readonly refusal: HoldRefusal }
  | { readonly kind: 'lost' };

/** One finished piece of a session (a turn, ten seconds of audio), priced. */
export type JournalEntry = {
  readonly seq: number;
  readonly costRaw: bigint;
  readonly usage: Readonly<Record<string, number>>;
};

/**
 * The one way to move an agent's money. Every call answers after its commit, never before the outcome
 * is known; ids make a repeated call harmless. Rejects only when the database stays away.
 */
export interface Ledger {
  hold(request: HoldRequest): Promise<HoldVerdict>;
  /** Actual 0 releases the whole hold. */
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
   * Takes everything spendable out at a close, and plans the payout of what of it the wallet backs. Idempotent on
   * `reference`; a repeat answers what was taken.
   */
  withdrawAll(request: {
    agentId: number;
    reference: string;
    payout?: NewPayout;
  }): Promise<WithdrawVerdict>;
  funds(agentId: number): Promise<Funds | undefined>;

  /**
   * Moves a reservation on while its hold stays open. `moved`: it is where the move ends. `lost`: it is neither there
   * nor where the move starts. A patient one rides with whatever its agent has next, or goes by itself soon after.
   */
  advance(request: {
    agentId: number;
    holdId: string;
    move: ReservationMove;
    patient?: boolean;
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
   * Adds to the session's hold. Refused like a hold; the old hold stays as it was. `isQuiet`: nobody wants it yet, and a
   * cap that stops its agent refuses it without doing so.
   */
  extend(claim: SessionClaim, byRaw: bigint, isQuiet?: boolean): Promise<ExtendVerdict>;
  /** Writes what was bought before the client is told of it. `lost` means: close the socket, settle nothing. */
  journal(claim: SessionClaim, entries: readonly JournalEntry[]): Promise<'written' | 'lost'>;
  /** Settles the hold to `actualRaw` and ends the session row. */
  closeSession(request: Omit<SettleRequest, 'hold'> & SessionEnd): Promise<SettleVerdict>;

  /** What an agent may do changed (status, keys, policies); caches are dropped at once, here and by version elsewhere. */
  forget(agentId: number): void;
  /**
   * The agent's money and rules as the database had them at its last word, a second ago at most. Undefined where this
   * process does not know them so well. What waits or is under way is not in it.
   */
  recall(agentId: number): Snapshot | undefined;
  /** Resolves once what this process has asked for of the agent so far is known, for whoever reads what it did. */
  settled(agentId: number): Promise<void>;
}
