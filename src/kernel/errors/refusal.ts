import { ApiError, type Fields } from '../api-error.ts';

/**
 * Returns one refusal: its status, its error code, and a sentence for the caller. A 401 or 403 asks clients not to retry,
 * because some clients repeat a refused credential or permission.
 */
export function refusal(
  status: number,
  error: string,
  message: string,
  fields: Fields = {},
  headers: Record<string, string> = {},
): ApiError {
  const isOfCaller = status === 401 || status === 403;
  return new ApiError(status, error, {
    // Half of the clients read `message`, the other half `detail`, so both carry the sentence.
    fields: { message, detail: message, ...fields },
    headers: isOfCaller ? { ...NO_RETRY, ...headers } : headers,
  });
}

/**
 * The OpenAI SDKs repeat 408, 409, 429 and 5xx by themselves, unless this header forbids it. It stands where a second
 * try could pay twice, where the state of the first is not known, and where the same request can only fail again.
 */
export const NO_RETRY = { 'x-should-retry': 'false' };

/** Nothing was charged, and the fault may pass: the SDKs may repeat the request, after `retry-after` where it stands. */
export const MAY_RETRY = { 'x-should-retry': 'true' };

/**
 * Returns headers that allow a retry after `seconds`, and after `ms` when `ms` is known: the SDKs read `retry-after-ms` first.
 * With null or undefined `seconds` the headers name no time.
 */
export function mayRetryAfter(
  seconds: number | null | undefined,
  ms?: number | undefined,
): Record<string, string> {
  if (seconds === null || seconds === undefined) return MAY_RETRY;
  const headers = { ...MAY_RETRY, 'retry-after': String(seconds) };
  return ms === undefined ? headers : { ...headers, 'retry-after-ms': String(ms) };
}
