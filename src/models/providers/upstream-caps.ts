import { MODEL_LIMITS } from '../limits.ts';
import type { CollectedAnswer } from './openai/collect-answer.ts';
import { resetTime } from './reset-time.ts';

/** Rate limit of an upstream on its account, as one of its answers reported it. */
export type UpstreamCap = {
  readonly kind: 'requests' | 'tokens' | 'input_tokens' | 'output_tokens';
  readonly remaining: number;
  readonly limit: number | undefined;
  /** Used part of the limit in basis points. Null when the upstream did not report the limit. */
  readonly usedBps: number | null;
  readonly resetsAtMs: number | undefined;
};

type Headers = CollectedAnswer['headers'];

type CapHeaders = {
  readonly kind: UpstreamCap['kind'];
  readonly limit: string;
  readonly remaining: string;
  readonly reset: string;
};

const openAi = (kind: 'requests' | 'tokens'): CapHeaders => ({
  kind,
  limit: `x-ratelimit-limit-${kind}`,
  remaining: `x-ratelimit-remaining-${kind}`,
  reset: `x-ratelimit-reset-${kind}`,
});

const anthropic = (kind: UpstreamCap['kind']): CapHeaders => {
  const name = `anthropic-ratelimit-${kind.replace('_', '-')}`;
  return { kind, limit: `${name}-limit`, remaining: `${name}-remaining`, reset: `${name}-reset` };
};

const CAP_HEADERS: readonly CapHeaders[] = [
  openAi('requests'),
  openAi('tokens'),
  anthropic('requests'),
  anthropic('tokens'),
  anthropic('input_tokens'),
  anthropic('output_tokens'),
];

const WHOLE_BPS = 10_000;

/** Returns the reported cap with the smallest unused part. Caps with implausible values are ignored. */
export function tightestCap(headers: Headers, nowMs: number): UpstreamCap | undefined {
  let tightest: UpstreamCap | undefined;
  for (const names of CAP_HEADERS) {
    const cap = readCap(headers, names, nowMs);
    if (cap === undefined) continue;
    if (tightest === undefined || compareRoom(cap, tightest) < 0) tightest = cap;
  }
  return tightest;
}

/** Returns the used share of a cap in basis points. Without the limit, the share is known only when nothing is left. */
export const usedShareBps = ({ remaining, usedBps }: UpstreamCap): number | undefined =>
  remaining === 0 ? WHOLE_BPS : (usedBps ?? undefined);

const compareRoom = (a: UpstreamCap, b: UpstreamCap): number =>
  (usedShareBps(b) ?? -1) - (usedShareBps(a) ?? -1) || a.remaining - b.remaining;

function readCap(headers: Headers, names: CapHeaders, nowMs: number): UpstreamCap | undefined {
  const remaining = count(textOf(headers, names.remaining));
  if (remaining === undefined) return undefined;
  const limit = count(textOf(headers, names.limit)) || undefined;
  const reset = textOf(headers, names.reset);
  return {
    kind: names.kind,
    remaining,
    limit,
    usedBps: limit === undefined ? null : usedBpsOf(limit, remaining),
    resetsAtMs: reset === undefined ? undefined : resetTime(reset, nowMs),
  };
}

/**
 * Returns the used part of a limit in basis points. Some upstreams round up and report more remaining than the limit: 0 then.
 */
const usedBpsOf = (limit: number, remaining: number): number =>
  Math.floor((Math.max(0, limit - remaining) * WHOLE_BPS) / limit);

/**
 * Returns the text of a header. Undefined for a header that came twice, because its meaning is ambiguous, and for a text that
 * is too long.
 */
function textOf(headers: Headers, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' && value.length <= MODEL_LIMITS.upstream.rateLimitHeaderChars
    ? value
    : undefined;
}

const count = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,12}$/.test(text) ? Number(text) : undefined;
