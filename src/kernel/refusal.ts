import { ApiError, type Fields } from './api-error.ts';

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
 * Header that keeps the OpenAI SDKs from repeating 408, 409, 429 and 5xx by themselves. Sent when a second attempt could pay
 * twice, when the state of the first attempt is unknown, and when the same request can only fail again.
 */
export const NO_RETRY = { 'x-should-retry': 'false' };

/**
 * Header that lets the SDKs repeat the request, after `retry-after` if it is present. Nothing was charged, and the fault may
 * pass.
 */
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

/** Returns the 503 for a feature that the operator has not configured. `variables` is a phrase that names the settings. */
export const notConfigured = (error: string, what: string, variables: string) =>
  refusal(503, error, `${what} Its operator turns that on with ${variables}.`, {}, NO_RETRY);
