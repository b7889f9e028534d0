import { formatUsdc } from '../../kernel/amount.ts';
import { BRAND } from '../../kernel/ids.ts';
import { endToEndHeaders, type Header, isHeader } from '../../platform/egress/request-headers.ts';
import { BUDGET_ADVISORY_HEADER } from '../../spend/awareness/budget-left.ts';

const HEADER = {
  cost: `${BRAND.headerPrefix}cost-usdc`,
  amount: `${BRAND.headerPrefix}payment-amount`,
  payment: `${BRAND.headerPrefix}payment`,
} as const;

/** Headers that a vendor does not decide here: the length of the message, its permitted readers, and our own limits. */
const DROPPED = new Set([
  'content-length',
  'alt-svc',
  'clear-site-data',
  'x-request-id',
  'date',
  'server',
  'strict-transport-security',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-content-type-options',
  'x-ratelimit-reset',
]);

/**
 * Matches a cookie with the name of this server's session cookie: a browser would store the vendor's cookie as this server's.
 */
const SIGNS_IN = new RegExp(`^\\s*${BRAND.sessionCookie}\\s*=`, 'i');

/** Returns a vendor's headers as the agent gets them: in their order, with all repetitions. */
export function relayedHeaders(lines: readonly Header[]): Header[] {
  return endToEndHeaders(lines).flatMap(([name, value]): Header[] => {
    const lower = name.toLowerCase();
    const isOurs =
      DROPPED.has(lower) ||
      lower.startsWith(BRAND.headerPrefix) ||
      lower.startsWith('access-control-') ||
      (lower === 'set-cookie' && SIGNS_IN.test(value));
    return isOurs || !isHeader([name, value]) ? [] : [[lower, value]];
  });
}

/** Price headers of a free answer. */
export const PASSED_THROUGH: Readonly<Record<string, string>> = {
  [HEADER.cost]: '0',
  [HEADER.payment]: 'passthrough',
};

/** Returns the price headers of a marketplace answer, whose cost is charged already. */
export const marketHeaders = (
  costRaw: bigint,
  payment: 'passthrough' | 'internal' | 'gateway' | 'byok',
): Record<string, string> => ({
  [HEADER.cost]: costRaw.toString(),
  ...(costRaw > 0n && { [HEADER.amount]: formatUsdc(costRaw) }),
  [HEADER.payment]: payment,
});

/** Returns the price headers of a paid answer. The amount is held until the chain shows the payment. */
export const paidHeaders = (
  valueRaw: bigint,
  advisory: string | undefined,
): Record<string, string> => ({
  [HEADER.cost]: valueRaw.toString(),
  [HEADER.amount]: formatUsdc(valueRaw),
  [HEADER.payment]: 'paid',
  ...(advisory === undefined ? {} : { [BUDGET_ADVISORY_HEADER]: advisory }),
});
