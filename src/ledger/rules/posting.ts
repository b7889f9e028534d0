import type { Account } from './accounts.ts';

export type Entry = {
  readonly debit: Account;
  readonly credit: Account;
  readonly amountRaw: bigint;
};

/**
 * One movement of money: its id, its reason, and the entries with debit, credit and amount. The id is the idempotency key: the
 * same id with other content is a bug.
 */
export type Posting = {
  readonly id: string;
  readonly code: PostingCode;
  /** Requested amount. With code, agent and first credited account it decides whether a repeat is the same posting. */
  readonly askedRaw: bigint;
  readonly entries: readonly Entry[];
  /** Nonce of the signed payment that is written with the posting. A posting with another nonce has other content. */
  readonly nonce?: string | undefined;
};

export type PostingCode =
  | 'funding.credit'
  | 'funding.deposit'
  | 'agent.withdraw'
  | 'hold.open'
  | 'hold.extend'
  | 'hold.shrink'
  | 'hold.settle'
  | 'hold.release'
  | 'wallet.sweep'
  | 'wallet.paid'
  | 'x402.correct'
  | 'platform.report';
