import { ApiError } from '../../kernel/api-error.ts';
import { uuidOf } from '../../kernel/ids.ts';
import type { Log } from '../../kernel/log.ts';
import { ledgerErrors } from '../../ledger/engine/errors.ts';
import { isTransient, refusesText } from '../../platform/postgres/transient.ts';
import { type HttpAnswer, JSON_TYPE } from './answer.ts';
import { requestErrors } from './errors.ts';

/** The shape of refusals: that of the specification, of OpenAI's, Anthropic's or Deepgram's API, or of a JSON-RPC error. */
export type Envelope = 'flat' | 'openai' | 'anthropic' | 'deepgram' | 'jsonrpc';

/** Returns true when clients of a model vendor read this shape. */
export const isVendorEnvelope = (envelope: Envelope | undefined): boolean =>
  envelope === 'openai' || envelope === 'anthropic' || envelope === 'deepgram';

/**
 * Returns the answer to an error. An ApiError is shown as it is; a lost database, and a text that PostgreSQL refuses, have
 * refusals of their own. Any other error is a bug: it is logged whole and shown as `Internal error` without its text.
 */
export function renderError(
  thrown: unknown,
  envelope: Envelope,
  log: () => Log,
  requestId?: string,
): HttpAnswer {
  const refusal = thrown instanceof ApiError ? thrown : failureOf(thrown);
  if (refusal.status >= 500 && refusal !== thrown) log().error({ err: thrown }, 'request failed');
  else if (refusal !== thrown) log().warn({ err: thrown }, 'request refused by the database');
  else if (refusal.cause !== undefined) log().warn({ err: refusal }, 'request refused');

  return {
    status: refusal.status,
    headers: {
      'content-type': JSON_TYPE,
      ...(envelope === 'anthropic' &&
        requestId !== undefined && { [REQUEST_ID_HEADER]: requestId }),
      ...(envelope === 'deepgram' && deepgramHeaders(refusal, requestId)),
      ...refusal.headers,
    },
    body: JSON.stringify(BODIES[envelope](refusal, requestId)),
  };
}

function failureOf(thrown: unknown): ApiError {
  if (isTransient(thrown)) return ledgerErrors.away();
  return refusesText(thrown) ? requestErrors.unstorableText() : requestErrors.internal();
}

const flatBody = (refusal: ApiError) => ({ error: refusal.error, ...refusal.fields });

/** Returns a refusal in JSON-RPC's form. The id is null, JSON-RPC's value for a request that may be unreadable. */
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
      code: machineCode(refusal.error),
      // The SDKs pass only this object on to their callers.
      ...(retryAfter === undefined ? {} : { retry_after_seconds: retryAfter }),
      ...(reservation === undefined ? {} : { reservation }),
    },
  };
}

/** Deepgram's error codes by status: https://developers.deepgram.com/docs/errors. */
const DEEPGRAM_CODE: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'INVALID_AUTH',
  402: 'ASR_PAYMENT_REQUIRED',
  403: 'INSUFFICIENT_PERMISSIONS',
  404: 'NOT_FOUND',
  413: 'PAYLOAD_TOO_LARGE',
  429: 'TOO_MANY_REQUESTS',
};

/**
 * Returns a refusal's headers in Deepgram's form. A client of sockets reads no body of a refused upgrade, and `dg-error` at
 * most.
 */
const deepgramHeaders = ({ error, fields }: ApiError, requestId = '') => ({
  'dg-request-id': uuidOf(requestId),
  'dg-error': String(fields.message ?? error)
    .replace(/[^\x20-\x7e]/g, '?')
    .slice(0, 200),
});

/** Returns a refusal in Deepgram's form, with our own code as `error` and the members that every refusal has. */
function deepgramBody(refusal: ApiError, requestId = ''): Record<string, unknown> {
  const { message, detail: _, ...fields } = refusal.fields;
  return {
    ...fields,
    err_code:
      (refusal.error === 'remote_content_error' ? 'REMOTE_CONTENT_ERROR' : undefined) ??
      DEEPGRAM_CODE[refusal.status] ??
      (refusal.status < 500 ? 'Bad Request' : 'INTERNAL_SERVER_ERROR'),
    err_msg: message ?? refusal.error,
    request_id: uuidOf(requestId),
    error: machineCode(refusal.error),
  };
}

/**
 * Returns an error as a machine-readable word, which clients of these shapes compare: `Invalid API key` becomes
 * `invalid_api_key`.
 */
const machineCode = (error: string) => error.toLowerCase().replace(/[^a-z0-9]+/g, '_');

/** Header from which clients of Anthropic's API read the id of a request. */
export const REQUEST_ID_HEADER = 'request-id';

/**
 * Error types by status, from https://platform.claude.com/docs/en/api/errors. Anthropic's SDKs choose their classes by the
 * status, other clients by the type. A status that is not listed gets the type for other faults of the request or the server.
 */
const ANTHROPIC_TYPE: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

/** Returns the `error.type` of Anthropic's envelope for a status. */
export const anthropicTypeOf = (status: number): string =>
  ANTHROPIC_TYPE[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');

/**
 * Returns a refusal in Anthropic's form. `code` and all other fields stand within `error`, since the SDKs and most clients read
 * no further.
 */
function anthropicBody(refusal: ApiError, requestId?: string): Record<string, unknown> {
  const { message, detail: _, ...fields } = refusal.fields;
  return {
    type: 'error',
    error: {
      ...fields,
      type: anthropicTypeOf(refusal.status),
      message: message ?? refusal.error,
      code: machineCode(refusal.error),
    },
    request_id: requestId ?? null,
  };
}

const BODIES = {
  flat: flatBody,
  openai: openaiBody,
  anthropic: anthropicBody,
  deepgram: deepgramBody,
  jsonrpc: jsonRpcBody,
} as const;
