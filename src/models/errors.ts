import type { Fields } from '../kernel/api-error.ts';
import { MAY_RETRY, mayRetryAfter, NO_RETRY, refusal } from '../kernel/refusal.ts';

/** Time until the next attempt: whole seconds, and milliseconds when the upstream gave them. */
export type Wait = { readonly seconds: number; readonly ms?: number | undefined };

/** Gateway refusals. Their routes render them as the OpenAI error object; `error` becomes its `code`. */
export const gatewayErrors = {
  invalidRequest: (message: string, param: string | null = null) =>
    refusal(400, 'invalid_request', message, { param }),
  /** Refusal of the other transports that live sessions have at their vendor. */
  unsupportedTransport: () =>
    refusal(
      400,
      'unsupported_transport',
      'Live sessions are served over one WebSocket at /v1/live/sessions: not over WebRTC or SIP, without second connections, and they are not stored.',
      { param: 'transport' },
    ),
  providerKeyRequired: (header: string) =>
    refusal(
      400,
      'provider_key_required',
      `This route is paid with the caller's own key at the provider; send it as ${header}.`,
      { param: header },
    ),
  modelNotFound: (model: string, suggestions: readonly string[] = []) =>
    refusal(
      404,
      'model_not_found',
      suggestions.length === 0
        ? `The model "${model}" is not in the catalogue; GET /v1/models lists it.`
        : `The model "${model}" is not in the catalogue; did you mean ${suggestions.map((id) => `"${id}"`).join(' or ')}?`,
      { param: 'model' },
    ),
  budgetExhausted: (fields: Fields & { message?: string } = {}) =>
    refusal(402, 'budget_exhausted', 'The balance does not cover this request.', fields),
  /** Refuses a request that a cap does not allow, with the code of an empty balance. The other fields name the cap. */
  capExceeded: (message: string, fields: Fields) =>
    refusal(402, 'budget_exhausted', message, fields),
  /** `wait`: retry time that the last rate-limiting upstream stated. */
  allSourcesFailed: (
    attempts: number,
    {
      headers,
      isHopeless = false,
      wait,
    }: {
      readonly wait?: Wait | undefined;
      readonly headers?: Readonly<Record<string, string>>;
      /** True when a retry of the same request can only fail. */
      readonly isHopeless?: boolean;
    } = {},
  ) =>
    refusal(
      502,
      'all_sources_failed',
      'No upstream could serve this request; nothing was charged.',
      { attempts },
      {
        ...headers,
        ...(isHopeless ? NO_RETRY : mayRetryAfter(wait?.seconds, wait?.ms)),
      },
    ),
  /** Refuses a request whose only attempted upstream limits the rate of its callers. */
  upstreamRateLimited: ({ seconds, ms }: Wait, headers: Readonly<Record<string, string>> = {}) =>
    refusal(
      429,
      'upstream_rate_limited',
      `The upstream has too many requests; nothing was charged. Try again in ${seconds} s.`,
      { retry_after_seconds: seconds },
      { ...headers, ...mayRetryAfter(seconds, ms) },
    ),
  /**
   * Refuses a session that its upstream refused. The status is not the upstream's own, which would read as a verdict on the
   * caller's credential for this server.
   */
  upstreamDeclined: (upstreamStatus: number) =>
    refusal(
      502,
      'upstream_declined',
      'The upstream refused this session; nothing was charged.',
      { upstream_status: upstreamStatus },
      NO_RETRY,
    ),
  /** Refuses a request that no source can serve until the operator adds one. The same request would be refused again. */
  noSourceAvailable: (message: string) =>
    refusal(503, 'no_source_available', message, {}, NO_RETRY),
  /** Refuses a request whose source cannot be paid now, either by this server or by the agent's wallet. */
  sourceUnpayable: (message: string) => refusal(503, 'no_source_available', message, {}, MAY_RETRY),
  /** Refuses a request when every source of the model failed lately and is not called before its backoff ends. */
  sourcesRest: (retryAfterSeconds: number) =>
    refusal(
      503,
      'no_source_available',
      `Every source of this model failed lately and rests; try again in ${retryAfterSeconds} s.`,
      { retry_after_seconds: retryAfterSeconds },
      mayRetryAfter(retryAfterSeconds),
    ),
  engineBusy: (retryAfterSeconds: number) =>
    refusal(
      503,
      'engine_overloaded',
      'All local engines are in use; try again shortly.',
      { retry_after_seconds: retryAfterSeconds },
      mayRetryAfter(retryAfterSeconds),
    ),
  noPriceableSource: (message: string) => refusal(422, 'no_priceable_source', message),
};
