import { MODEL_LIMITS } from '../limits.ts';

const SECONDS = /^\d{1,9}(?:\.\d{1,9})?$/;
/** Durations such as `6m0s`, `1s`, `120ms`. */
const DURATION = /^(?:\d{1,9}(?:\.\d{1,9})?(?:ms|[smhd]))+$/;
const DURATION_PART = /([\d.]+)(ms|[smhd])/g;
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;
/** Preferred form of HTTP dates (RFC 9110, IMF-fixdate). */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/;

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/**
 * Returns the time at which a cap resets, in Unix milliseconds. Undefined when the text names no time, or a time that is too
 * far away.
 */
export function resetTime(text: string, nowMs: number): number | undefined {
  const atMs = timeOf(text, nowMs);
  return Math.abs(atMs - nowMs) <= MODEL_LIMITS.upstream.rateLimitResetMs ? atMs : undefined;
}

function timeOf(text: string, nowMs: number): number {
  if (SECONDS.test(text)) return nowMs + Math.round(Number(text) * 1_000);
  if (RFC_3339.test(text)) return Date.parse(text);
  if (!DURATION.test(text)) return Number.NaN;
  let ms = 0;
  for (const [, quantity, unit = ''] of text.matchAll(DURATION_PART)) {
    ms += Number(quantity) * (UNIT_MS[unit] ?? Number.NaN);
  }
  return nowMs + Math.round(ms);
}

/**
 * Returns the seconds of a `Retry-After` header, rounded up. Null when the header is missing, came twice, or is not credible.
 */
function retryAfterSeconds(
  value: string | readonly string[] | undefined,
  nowMs: number,
): number | null {
  if (typeof value !== 'string' || value.length > MODEL_LIMITS.upstream.rateLimitHeaderChars)
    return null;
  const seconds = SECONDS.test(value) ? Number(value) : secondsUntil(value, nowMs);
  return seconds <= MODEL_LIMITS.upstream.retryAfterSeconds ? Math.ceil(seconds) : null;
}

const MILLISECONDS = /^\d{1,9}(?:\.\d{1,9})?$/;

/** Reads how long an upstream sends its callers away. `retry-after-ms` is finer and comes before `retry-after`. */
export function waitOf(
  headers: Headers,
  nowMs: number,
): { readonly seconds: number | null; readonly ms?: number } {
  const fine = headers['retry-after-ms'];
  if (typeof fine === 'string' && MILLISECONDS.test(fine)) {
    const ms = Math.ceil(Number(fine));
    const seconds = Math.ceil(ms / 1_000);
    if (seconds <= MODEL_LIMITS.upstream.retryAfterSeconds) return { seconds, ms };
  }
  return { seconds: retryAfterSeconds(headers['retry-after'], nowMs) };
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

const secondsUntil = (text: string, nowMs: number): number =>
  HTTP_DATE.test(text) ? Math.max(0, (Date.parse(text) - nowMs) / 1_000) : Number.NaN;
