import { ApiError } from '../../kernel/api-error.ts';
import { errors } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';
import { isTransient } from '../../platform/postgres/transient.ts';
import { type HttpAnswer, JSON_TYPE } from './answer.ts';

/** How refusals look: the specification's own shape, that of OpenAI's API, or a JSON-RPC error. */
export type Envelope = 'flat' | 'openai' | 'jsonrpc';

/**
 * Turns whatever was thrown into an answer. A refusal is shown as it is and a lost database as one; anything
 * else is a bug, which is logged whole and shown as `Internal error` with nothing of its text.
 */
export function renderError(thrown: unknown, envelope: Envelope, log: () => Log): HttpAnswer {
  const refusal = thrown instanceof ApiError ? thrown : failureOf(thrown);
  if (refusal !== thrown) log().error({ err: thrown }, 'request failed');
  else if (refusal.cause !== undefined) log().warn({ err: refusal }, 'request refused');

  return {
    status: refusal.status,
    headers: { 'content-type': JSON_TYPE, ...refusal.headers },
    body: JSON.stringify(BODIES[envelope](refusal)),
  };
}

const failureOf = (thrown: unknown): ApiError =>
  isTransient(thrown) ? errors.request.ledgerAway() : errors.request.internal();

const flatBody = (refusal: ApiError) => ({ error: refusal.error, ...refusal.fields });

/** The request may be unreadable, so that its id is not known; JSON-RPC has null for that. */
const jsonRpcBody = (refusal: ApiError) => ({
  jsonrpc: '2.0',
  id: null,
  error: {
    code: RPC_CODES[refusal.error] ?? RPC_SERVER_ERROR,
    message: refusal.fields.message ?? refusal.error,
    data: flatBody(refusal),
  },
});

const RPC_CODES: Readonly<Record<string, number>> = {
  parse_error: -32_700,
  invalid_message: -32_600,
  'Internal error': -32_603,
};
const RPC_SERVER_ERROR = -32_000;

const OPENAI_TYPE: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'insufficient_quota',
  403: 'permission_error',
  429: 'rate_limit_error',
  500: 'server_error',
  502: 'upstream_error',
  503: 'service_unavailable',
};

function openaiBody(refusal: ApiError): Record<string, unknown> {
  const { message, detail: _, param, ...fields } = refusal.fields;
  const { retry_after_seconds: retryAfter, reservation } = fields;
  return {
    ...fields,
    error: {
      message: message ?? refusal.error,
      type: OPENAI_TYPE[refusal.status] ?? 'invalid_request_error',
      param: param ?? null,
      code: openaiCode(refusal.error),
      // The SDKs hand their callers this object alone.
      ...(retryAfter === undefined ? {} : { retry_after_seconds: retryAfter }),
      ...(reservation === undefined ? {} : { reservation }),
    },
  };
}

/** Clients of this envelope compare machine words: the sentence `Invalid API key` reads `invalid_api_key`. */
const openaiCode = (error: string) => error.toLowerCase().replace(/[^a-z0-9]+/g, '_');

const BODIES = { flat: flatBody, openai: openaiBody, jsonrpc: jsonRpcBody } as const;
