import type { Fields } from '../api-error.ts';
import { NO_RETRY, refusal } from './refusal.ts';

/** Gateway refusals. Their routes render them as the OpenAI error object; `error` becomes its `code`. */
export const gateway = {
  invalidRequest: (message: string, param: string | null = null) =>
    refusal(400, 'invalid_request', message, { param }),
  providerKeyRequired: (header: string) =>
    refusal(
      400,
      'provider_key_required',
      `This route is paid with the caller's own key at the provider; send it as ${header}.`,
      { param: header },
    ),
  modelNotFound: (model: string, suggestion?: string) =>
    refusal(
      404,
      'model_not_found',
      suggestion === undefined
        ? `The model "${model}" is not in the catalogue; GET /v1/models lists it.`
        : `The model "${model}" is not in the catalogue; did you mean "${suggestion}"?`,
      { param: 'model' },
    ),
  budgetExhausted: (fields: Fields & { message?: string } = {}) =>
    refusal(402, 'budget_exhausted', 'The balance does not cover this request.', fields, NO_RETRY),
  /** The same code as for a balance that is empty; what stands beside it tells which cap it was. */
  capExceeded: (message: string, fields: Fields) =>
    refusal(402, 'budget_exhausted', message, fields, NO_RETRY),
  allSourcesFailed: (attempts: number, headers: Readonly<Record<string, string>> = {}) =>
    refusal(
      502,
      'all_sources_failed',
      'No upstream could serve this request; nothing was charged.',
      { attempts },
      { ...headers, ...NO_RETRY },
    ),
  /** Of a session. Not with the upstream's own status, which would read as a word on the caller's credential here. */
  upstreamDeclined: (upstreamStatus: number) =>
    refusal(
      502,
      'upstream_declined',
      'The upstream refused this session; nothing was charged.',
      { upstream_status: upstreamStatus },
      NO_RETRY,
    ),
  noSourceAvailable: (message: string) =>
    refusal(503, 'no_source_available', message, {}, NO_RETRY),
  engineBusy: (retryAfterSeconds: number) =>
    refusal(
      503,
      'engine_overloaded',
      'All local engines are in use; try again shortly.',
      { retry_after_seconds: retryAfterSeconds },
      { 'retry-after': String(retryAfterSeconds), ...NO_RETRY },
    ),
  noPriceableSource: (message: string) => refusal(422, 'no_priceable_source', message),
  rateLimited: (retryAfterSeconds: number) =>
    refusal(
      429,
      'rate_limited',
      `Too many requests; try again in ${retryAfterSeconds} s.`,
      { retry_after_seconds: retryAfterSeconds },
      { 'retry-after': String(retryAfterSeconds), ...NO_RETRY },
    ),
};
