import { minRaw } from '../../kernel/amount.ts';
import { type Account, held, type SpendAccount, spendable } from './accounts.ts';
import type { Entry, Posting, PostingCode } from './posting.ts';

const holdPostingId = (holdId: string): string => `hold:${holdId}`;
/** Returns the id of an extension. Amounts of a hold only grow, so that the amount before identifies it. */
const extendPostingId = (holdId: string, fromRaw: bigint): string => `extend:${fromRaw}:${holdId}`;
const returnPostingId = (lentHoldId: string): string => `return:${lentHoldId}`;
const lendPostingId = (lentHoldId: string): string => `lend:${lentHoldId}`;
/**
 * The amount alone is not unique, because a lending hold may have had the same amount before. The epoch and the count of
 * shrinks are.
 */
const shrinkPostingId = ({ epoch, fromRaw, holdId, shrinks }: ShrinkingHold): string =>
  `shrink:${fromRaw}:${epoch}.${shrinks}:${holdId}`;
/** Returns the id that settling and releasing share, so that the primary key prevents resolving a hold twice. */
const resolvePostingId = (holdId: string): string => `resolve:${holdId}`;
const creditPostingId = (reference: string): string => `credit:${reference}`;
const withdrawPostingId = (agentId: number, reference: string): string =>
  `withdraw:${agentId}:${reference}`;

const entry = (debit: Entry['debit'], credit: Entry['credit'], amountRaw: bigint): Entry[] =>
  amountRaw > 0n ? [{ debit, credit, amountRaw }] : [];

/** Returns the posting that holds an upper bound of the cost before a purchase. */
export const holdPosting = (
  agentId: number,
  holdId: string,
  amountRaw: bigint,
  nonce?: string,
): Posting => ({
  id: holdPostingId(holdId),
  code: 'hold.open',
  askedRaw: amountRaw,
  entries: entry(spendable(agentId), held(agentId), amountRaw),
  nonce,
});

/** Returns the posting that extends a session's hold; with `lentHoldId`, by the remainder of a hold that it lent. */
export const extendPosting = (
  agentId: number,
  hold: { readonly holdId: string; readonly fromRaw: bigint },
  byRaw: bigint,
  lentHoldId?: string,
): Posting => ({
  id:
    lentHoldId === undefined
      ? extendPostingId(hold.holdId, hold.fromRaw)
      : returnPostingId(lentHoldId),
  code: 'hold.extend',
  askedRaw: byRaw,
  entries: entry(spendable(agentId), held(agentId), byRaw),
});

type ShrinkingHold = {
  readonly holdId: string;
  readonly fromRaw: bigint;
  readonly epoch: number;
  readonly shrinks: number;
};

/** Gives a part of a hold back; with `lentHoldId`, lends it to that hold. */
export const shrinkPosting = (
  agentId: number,
  hold: ShrinkingHold,
  byRaw: bigint,
  lentHoldId?: string,
): Posting => ({
  id: lentHoldId === undefined ? shrinkPostingId(hold) : lendPostingId(lentHoldId),
  code: 'hold.shrink',
  askedRaw: byRaw,
  entries: entry(held(agentId), spendable(agentId), byRaw),
});

/** Returns the posting of money that came in from outside. */
export const creditPosting = (
  agentId: number,
  reference: string,
  amountRaw: bigint,
  deposit: boolean,
): Posting => ({
  id: creditPostingId(reference),
  code: deposit ? 'funding.deposit' : 'funding.credit',
  askedRaw: amountRaw,
  entries: entry('funding', spendable(agentId), amountRaw),
});

/**
 * Returns the posting of a withdrawal. A requested amount of 0 means the whole spendable amount, so that a repeat is equal
 * whatever the balance is.
 */
export const withdrawPosting = (
  agentId: number,
  reference: string,
  amountRaw: bigint,
  askedRaw = 0n,
): Posting => ({
  id: withdrawPostingId(agentId, reference),
  code: 'agent.withdraw',
  askedRaw,
  entries: entry(spendable(agentId), 'withdrawn', amountRaw),
});

/** Returns a posting without entries. It records once and for all that a fact became true which moves no balance here. */
export const markPosting = (
  id: string,
  code: Extract<PostingCode, 'wallet.sweep' | 'wallet.paid' | 'platform.report'>,
  askedRaw: bigint,
): Posting => ({ id, code, askedRaw, entries: [] });

/** Returns the posting for a payment that was released but moved on chain after all. */
export function correctPosting(
  agentId: number,
  nonce: string,
  { amountRaw, chargedRaw }: { readonly amountRaw: bigint; readonly chargedRaw: bigint },
): Posting {
  const entries: Entry[] = [];
  move(entries, spendable(agentId), 'chain:usdc', chargedRaw);
  move(entries, 'shortfall:x402', 'chain:usdc', amountRaw - chargedRaw);
  return { id: `correct:${nonce}`, code: 'x402.correct', askedRaw: amountRaw, entries };
}

function move(entries: Entry[], debit: Account, credit: Account, amountRaw: bigint): void {
  if (amountRaw > 0n) entries.push({ debit, credit, amountRaw });
}

export type Settlement = {
  readonly agentId: number;
  readonly holdId: string;
  readonly heldRaw: bigint;
  readonly actualRaw: bigint;
  readonly billableRaw?: bigint | undefined;
  readonly account: SpendAccount;
  readonly source: string;
};

export type SettledHold = {
  readonly posting: Posting;
  readonly chargedRaw: bigint;
  readonly returnedRaw: bigint;
  readonly shortfallRaw: bigint;
};

/**
 * Returns the settlement of a hold: the cost goes to its account, and the remaining amount is returned. Caps admit only the
 * hold, so a settlement never takes more than the hold, nor more than the billable amount. The excess is a shortfall of the
 * source, never a debt of the agent.
 */
export function settlePosting(work: Settlement): SettledHold {
  const { agentId, account, actualRaw, billableRaw = actualRaw } = work;
  const fromHoldRaw = minRaw(minRaw(actualRaw, billableRaw), work.heldRaw);
  const returnedRaw = work.heldRaw - fromHoldRaw;
  const shortfallRaw = actualRaw - fromHoldRaw;
  const entries: Entry[] = [];
  move(entries, held(agentId), account, fromHoldRaw);
  move(entries, `shortfall:${work.source}`, account, shortfallRaw);
  move(entries, held(agentId), spendable(agentId), returnedRaw);
  return {
    posting: {
      id: resolvePostingId(work.holdId),
      code: actualRaw > 0n ? 'hold.settle' : 'hold.release',
      askedRaw: actualRaw,
      entries,
    },
    chargedRaw: fromHoldRaw,
    returnedRaw,
    shortfallRaw,
  };
}
