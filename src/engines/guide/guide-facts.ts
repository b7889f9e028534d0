import { formatUsdc } from '../../kernel/amount.ts';
import type { CallerFacts } from '../engine.ts';
import { wordsOf } from '../text/words.ts';

export type Fact = 'balance' | 'spent' | 'held';

/** Words of questions about the rules of the account rather than about the caller's own balance. */
const ABOUT_RULES =
  /\b(?:limits?|caps?|policy|policies|controls?|exceeded|empty|cost|price|add|fund)\b/;
const ABOUT_ME = /\b(?:my|i|have|left|account|remaining|money|much|me)\b/;
/** Words that a recogniser mistakes `balance` for: `balanced`, `valence`, `violence`, `palace`. */
const LIKE_BALANCE = /\b(?:[bpv][aeiou]+l+[aeiou]+n[cst]e?[ds]?|pal+ace)\b/;

/** Facts with the patterns that a question must all match to ask for the fact. The first match counts. */
const ASKED: readonly (readonly [Fact, ...RegExp[]])[] = [
  ['held', /\b(?:held|reserved|on hold)\b/, ABOUT_ME],
  ['spent', /\b(?:spent|spend|spending)\b/, /\b(?:much|today|total|far|i|my|we|have|did)\b/],
  ['balance', /\bbalance\b/],
  ['balance', LIKE_BALANCE, ABOUT_ME],
  [
    'balance',
    /\b(?:left|remain|remains|remaining)\b/,
    /\b(?:much|many|money|funds|cash|credit|dollars)\b/,
  ],
  ['balance', /\bmuch\b/, /\bhave\b/, /\b(?:money|funds|cash|credit|got)\b/],
];

/**
 * Returns the fact about the caller that a question asks for, when the words alone make it clear. One misheard word in three is
 * tolerated: the noun, or its sound, and one other word must match.
 */
export function askedFact(question: string): Fact | undefined {
  const words = wordsOf(question).join(' ');
  if (ABOUT_RULES.test(words)) return undefined;
  return ASKED.find(([, ...patterns]) => patterns.every((pattern) => pattern.test(words)))?.[0];
}

const plural = (count: bigint, one: string) => `${count} ${one}${count === 1n ? '' : 's'}`;

/** Returns an amount for speech, in dollars and cents rounded down, followed by the exact amount in USDC. */
function sayUsdc(amountRaw: bigint): string {
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

/** Returns a sentence with the true amount, phrased for hearing and for checking. */
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
