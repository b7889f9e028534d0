import { formatUsdc } from '../../kernel/amount.ts';
import type { CallerFacts } from '../engine.ts';
import { mayBe, wordsOf } from './guide-words.ts';

export type Fact = 'balance' | 'spent' | 'held';

const ABOUT_ME = new Set([
  'my',
  'i',
  'have',
  'left',
  'account',
  'remaining',
  'money',
  'much',
  'me',
]);
const SPENT = ['spent', 'spend', 'spending'];
const SPENT_FRAME = new Set(['much', 'today', 'total', 'far', 'i', 'my', 'we', 'have', 'did']);
/** Words that ask how something works, not how the caller stands. */
const ABOUT_RULES = new Set([
  'limit',
  'limits',
  'cap',
  'caps',
  'policy',
  'policies',
  'control',
  'controls',
  'exceeded',
  'empty',
  'cost',
  'price',
  'add',
  'fund',
]);

/**
 * Which of the caller's own facts is asked for, where that is plain without looking anything up. One
 * misheard word in three is forgiven: what counts is the noun, or its sound, and one word beside it.
 */
export function askedFact(question: string): Fact | undefined {
  const words = wordsOf(question);
  const has = (...any: readonly string[]) => any.some((word) => words.includes(word));
  if (words.some((word) => ABOUT_RULES.has(word))) return undefined;
  const framed = words.some((word) => ABOUT_ME.has(word));
  if (has('held', 'reserved') && framed) return 'held';
  if (has('on') && has('hold') && framed) return 'held';
  if (has(...SPENT) && words.some((word) => SPENT_FRAME.has(word))) return 'spent';
  if (has('balance')) return 'balance';
  if (framed && words.some((word) => mayBe(word, 'balance'))) return 'balance';
  const rest = has('left', 'remaining', 'remain', 'remains');
  if (rest && has('much', 'many', 'money', 'funds', 'cash', 'credit', 'dollars')) return 'balance';
  if (has('much') && has('have') && has('money', 'funds', 'cash', 'credit', 'got'))
    return 'balance';
  return undefined;
}

const plural = (count: bigint, one: string) => `${count} ${one}${count === 1n ? '' : 's'}`;

/** Dollars and cents for the transcriber, rounded down; then the amount to the raw unit. */
export function sayUsdc(amountRaw: bigint): string {
  const dollars = amountRaw / 1_000_000n;
  const cents = (amountRaw % 1_000_000n) / 10_000n;
  const spoken =
    cents === 0n
      ? dollars === 0n && amountRaw > 0n
        ? 'less than a cent'
        : plural(dollars, 'dollar')
      : dollars === 0n
        ? plural(cents, 'cent')
        : `${plural(dollars, 'dollar')} and ${plural(cents, 'cent')}`;
  return `${spoken}, exactly ${formatUsdc(amountRaw)} USDC`;
}

/** The true amount, said so that it can be heard as well as checked. */
export function stateFact(fact: Fact, { spendableRaw, heldRaw, spentRaw }: CallerFacts): string {
  const held = `${formatUsdc(heldRaw)} USDC more is held for work in progress.`;
  switch (fact) {
    case 'balance':
      return `Your balance is ${sayUsdc(spendableRaw)}.${heldRaw > 0n ? ` ${held}` : ''}`;
    case 'spent':
      return `You have spent ${sayUsdc(spentRaw)} so far.`;
    case 'held':
      return heldRaw > 0n
        ? `On hold for work in progress: ${sayUsdc(heldRaw)}.`
        : 'Nothing of yours is on hold.';
  }
}
