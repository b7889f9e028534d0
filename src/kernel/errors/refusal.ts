import { ApiError, type Fields } from '../api-error.ts';

/**
 * One refusal: its status, its wire spelling, and a sentence for the caller. A refused credential or permission is refused
 * again, so that a 401 or 403 asks clients not to retry: some of them repeat those as well.
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
 * Headers that allow a retry after `seconds`, and after `ms` when those are known: the SDKs read `retry-after-ms` first.
 * Undefined or null `seconds`: the time of recovery is unknown, and the headers name none.
 */
export function mayRetryAfter(
  seconds: number | null | undefined,
  ms?: number | undefined,
): Record<string, string> {
  if (seconds === null || seconds === undefined) return MAY_RETRY;
  const headers = { ...MAY_RETRY, 'retry-after': String(seconds) };
  return ms === undefined ? headers : { ...headers, 'retry-after-ms': String(ms) };
}
