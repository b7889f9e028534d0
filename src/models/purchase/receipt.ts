import { formatUsdc } from '../../kernel/amount.ts';
import { BRAND } from '../../kernel/ids.ts';
import { BUDGET_ADVISORY_HEADER } from '../../spend/awareness/budget-left.ts';
import type { Retirement } from '../catalogue/retirement.ts';
import { RATE_LIMIT_ADVISORY_HEADER } from '../routing/rate-limit-advisory.ts';
import type { Attempts } from './attempt.ts';
import type { AnswerCap, Quote } from './product.ts';

/** Names of the headers, concatenated once: doing that for every answer costs more time than computing its price. */
const HEADER = {
  cost: `${BRAND.headerPrefix}cost-usdc`,
  amount: `${BRAND.headerPrefix}payment-amount`,
  payment: `${BRAND.headerPrefix}payment`,
  model: `${BRAND.headerPrefix}model`,
  rail: `${BRAND.headerPrefix}rail`,
  attempts: `${BRAND.headerPrefix}attempts`,
  provider: `${BRAND.headerPrefix}provider`,
  fallbacks: `${BRAND.headerPrefix}fallbacks`,
  cacheDiscount: `${BRAND.headerPrefix}cache-discount-usdc`,
  maxTokens: `${BRAND.headerPrefix}max-tokens-applied`,
  remaining: `${BRAND.headerPrefix}budget-remaining-usdc`,
} as const;

/** Model and source that answered, and facts about the answer. */
export type Served = {
  readonly model: string;
  readonly rail: string;
  readonly attempts: number;
  /** Rate limits that the upstream reported. */
  readonly rateLimits?: string | undefined;
  /** Date on which the vendor shuts the model down. Undefined: none is known. */
  readonly retirement?: Retirement | undefined;
  /** Cap of the answer's tokens, so that a client can distinguish an answer that was cut off from one that ended. */
  readonly answerCap?: AnswerCap | undefined;
  /** Outcome of the caller's routing preferences. Undefined when the caller has none. */
  readonly routing?: Routing | undefined;
};

/** Result of a caller's routing preferences. */
export type Routing = {
  readonly provider: string;
  /** Models that were attempted or quoted before the delivering one, each with the reason of its failure. */
  readonly fallbacks: readonly (readonly [modelId: string, why: string])[];
};

/** Returns the facts of the receipt about the model and the source that answered. */
export const servedBy = (
  { answerCap, model }: Quote<unknown, unknown>,
  { attempts, source }: Attempts,
  { rateLimits, routing }: Pick<Served, 'rateLimits' | 'routing'>,
): Served => ({
  model: model.id,
  retirement: model.retirement,
  rail: source.rail,
  attempts,
  rateLimits,
  answerCap,
  routing,
});

/** Price of an answer, in raw USDC. */
export type Price = {
  readonly chargedRaw: bigint;
  /**
   * Savings by the upstream's prompt cache. Negative when writing to the cache cost more than was saved; absent when no cache
   * was used.
   */
  readonly cacheDiscountRaw?: bigint | undefined;
};

/** Rest of the budget after a purchase. */
export type Left = {
  /** Least amount that the balance and the caps leave for the same spend. Undefined: unknown. */
  readonly remainingRaw?: bigint | undefined;
  /** Text of the budget header, about the tightest cap. Undefined: not reported. */
  readonly advisory?: string | undefined;
};

type Headers = Record<string, string>;

/**
 * Returns the headers of a metered answer: its type, its price, and the remaining budget. `attempts` is present only when the
 * first source failed.
 */
export function receiptHeaders(
  served: Served,
  settled: Left & Price,
  contentType: string,
): Headers {
  const headers: Headers = {
    'content-type': contentType,
    [HEADER.cost]: settled.chargedRaw.toString(),
    [HEADER.amount]: formatUsdc(settled.chargedRaw),
    [HEADER.payment]: paymentOf(served),
    [HEADER.model]: served.model,
    [HEADER.rail]: served.rail,
  };
  const { cacheDiscountRaw: discount } = settled;
  if (discount !== undefined) headers[HEADER.cacheDiscount] = discount.toString();
  addServed(headers, served);
  addLeft(headers, settled);
  return headers;
}

/** Payer of the provider: this server (`gateway`) or the buyer (`byok`). */
const paymentOf = ({ rail }: Served): 'gateway' | 'byok' => (rail === 'byok' ? 'byok' : 'gateway');

/** Returns the headers of a streamed answer, sent before its cost is known. */
export function streamHeaders(served: Served, left: Left): Headers {
  const headers = {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    [HEADER.payment]: paymentOf(served),
    [HEADER.model]: served.model,
    [HEADER.rail]: served.rail,
  };
  addServed(headers, served);
  addLeft(headers, left);
  return headers;
}

/**
 * Returns the headers of an upstream's own refusal, which costs nothing. They distinguish a vendor's error from this server's.
 */
export function passthroughHeaders(served: Served): Headers {
  const headers = {
    [HEADER.cost]: '0',
    [HEADER.payment]: 'passthrough',
    [HEADER.model]: served.model,
    [HEADER.rail]: served.rail,
  };
  addServed(headers, served);
  return headers;
}

function addServed(
  headers: Headers,
  { answerCap, attempts, rateLimits, retirement, routing }: Served,
): void {
  if (retirement !== undefined) Object.assign(headers, retirement.headers);
  if (answerCap !== undefined) {
    headers[HEADER.maxTokens] = `${answerCap.tokens}; reason=${answerCap.reason}`;
  }
  if (attempts > 1) headers[HEADER.attempts] = String(attempts);
  if (routing !== undefined) headers[HEADER.provider] = routing.provider;
  if (routing !== undefined && routing.fallbacks.length > 0) {
    headers[HEADER.fallbacks] = routing.fallbacks
      .map(([modelId, why]) => `${headerWord(modelId)}=${why}`)
      .join(', ');
  }
  if (rateLimits !== undefined) headers[RATE_LIMIT_ADVISORY_HEADER] = rateLimits;
}

/** Returns the id of a model with characters that a header allows. A caller may have sent any text as the id. */
const headerWord = (modelId: string): string => modelId.replace(/[^\w./:-]/g, '_');

function addLeft(headers: Headers, { remainingRaw, advisory }: Left): void {
  if (remainingRaw !== undefined) headers[HEADER.remaining] = formatUsdc(remainingRaw);
  if (advisory !== undefined) headers[BUDGET_ADVISORY_HEADER] = advisory;
}

/** Returns the header about the upstream's rate limits; no header when none were reported. */
export const limitsOf = ({ rateLimits }: Pick<Served, 'rateLimits'>): Headers =>
  rateLimits === undefined ? {} : { [RATE_LIMIT_ADVISORY_HEADER]: rateLimits };
