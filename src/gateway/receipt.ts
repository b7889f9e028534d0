import { BUDGET_ADVISORY_HEADER } from '../controls/budget-left.ts';
import { formatUsdc } from '../kernel/amount.ts';
import { BRAND } from '../kernel/ids.ts';
import { RATE_LIMIT_ADVISORY_HEADER } from './rate-limit-advisory.ts';

/** Joined once: a key that is put together for every answer costs more than the answer's price. */
const HEADER = {
  cost: `${BRAND.headerPrefix}cost-usdc`,
  amount: `${BRAND.headerPrefix}payment-amount`,
  payment: `${BRAND.headerPrefix}payment`,
  model: `${BRAND.headerPrefix}model`,
  rail: `${BRAND.headerPrefix}rail`,
  attempts: `${BRAND.headerPrefix}attempts`,
  remaining: `${BRAND.headerPrefix}budget-remaining-usdc`,
} as const;

export type Receipt = {
  readonly chargedRaw: bigint;
  /** What may still be spent like this, where it is known. */
  readonly remainingRaw?: bigint | undefined;
  /** What the tightest cap leaves, where that is told. */
  readonly advisory?: string | undefined;
  readonly model: string;
  readonly rail: string;
  readonly attempts: number;
  /** What the limits of the upstream leave, where that is told. */
  readonly rateLimits?: string | undefined;
};

/** What a metered answer says about its price. `attempts` is told only when the first source failed. */
export const receiptHeaders = (receipt: Receipt): Record<string, string> => ({
  [HEADER.cost]: receipt.chargedRaw.toString(),
  [HEADER.amount]: formatUsdc(receipt.chargedRaw),
  [HEADER.payment]: paymentOf(receipt),
  [HEADER.model]: receipt.model,
  [HEADER.rail]: receipt.rail,
  ...attempted(receipt.attempts),
  ...leftOf(receipt),
  ...limitsOf(receipt),
});

/** Who pays the provider: the pool, or the buyer. */
const paymentOf = ({ rail }: Pick<Receipt, 'rail'>): 'gateway' | 'byok' =>
  rail === 'byok' ? 'byok' : 'gateway';

const leftOf = ({
  remainingRaw,
  advisory,
}: Pick<Receipt, 'remainingRaw' | 'advisory'>): Record<string, string> => ({
  ...(remainingRaw === undefined ? {} : { [HEADER.remaining]: formatUsdc(remainingRaw) }),
  ...(advisory === undefined ? {} : { [BUDGET_ADVISORY_HEADER]: advisory }),
});

/** What a streamed answer says before it begins: nobody knows yet what it will come to. */
export const streamHeaders = (receipt: Omit<Receipt, 'chargedRaw'>): Record<string, string> => ({
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  [HEADER.payment]: paymentOf(receipt),
  [HEADER.model]: receipt.model,
  [HEADER.rail]: receipt.rail,
  ...attempted(receipt.attempts),
  ...leftOf(receipt),
  ...limitsOf(receipt),
});

/** On an upstream's own refusal, which costs nothing. Its presence tells a vendor's error from ours. */
export const passthroughHeaders = (
  answer: Pick<Receipt, 'model' | 'rail' | 'attempts' | 'rateLimits'>,
): Record<string, string> => ({
  [HEADER.cost]: '0',
  [HEADER.payment]: 'passthrough',
  [HEADER.model]: answer.model,
  [HEADER.rail]: answer.rail,
  ...attempted(answer.attempts),
  ...limitsOf(answer),
});

const attempted = (attempts: number): Record<string, string> =>
  attempts > 1 ? { [HEADER.attempts]: String(attempts) } : {};

/** The limits of upstreams, for an answer of any kind. */
export const limitsOf = ({ rateLimits }: Pick<Receipt, 'rateLimits'>): Record<string, string> =>
  rateLimits === undefined ? {} : { [RATE_LIMIT_ADVISORY_HEADER]: rateLimits };
