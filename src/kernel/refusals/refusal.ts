import { ApiError, type Fields } from '../api-error.ts';

/** One refusal: its status, its wire spelling, and a sentence for whoever reads it. */
export function refusal(
  status: number,
  error: string,
  message: string,
  fields: Fields = {},
  headers: Record<string, string> = {},
): ApiError {
  // Half of the clients read `message`, the other half `detail`, so both carry the sentence.
  return new ApiError(status, error, { fields: { message, detail: message, ...fields }, headers });
}

/** The OpenAI SDKs repeat 408, 409, 429 and 5xx by themselves unless this header forbids it. */
export const NO_RETRY = { 'x-should-retry': 'false' };
