import { mayRetryAfter, NO_RETRY, refusal } from '../../kernel/refusal.ts';

export type ValidationDetail = {
  readonly path: readonly (string | number)[];
  readonly message: string;
  readonly code: string;
};

const DETAILS_TOLD = 5;

const describe = (details: readonly ValidationDetail[]): string =>
  details
    .slice(0, DETAILS_TOLD)
    .map(({ path, message }) => [path.join('.'), message].filter((part) => part !== '').join(': '))
    .join('; ');

/** Refusals of requests that no single domain owns. */
export const requestErrors = {
  /** Refuses an invalid request. The message repeats the details, since most clients print only the message. */
  invalid: (details: readonly ValidationDetail[]) =>
    refusal(400, 'Invalid request', describe(details), { details }),
  unstorableText: () =>
    requestErrors.invalid([
      {
        path: [],
        message:
          'A text of this request has a NUL character, which no row can hold. Send it without.',
        code: 'unstorable_text',
      },
    ]),
  invalidBody: (message: string) => refusal(400, 'Invalid request body', message),
  notFound: (message = 'There is no such route.') => refusal(404, 'not_found', message),
  methodNotAllowed: (allow: readonly string[]) =>
    refusal(
      405,
      'method_not_allowed',
      `This route answers ${allow.join(', ')}.`,
      {},
      { allow: allow.join(', ') },
    ),
  payloadTooLarge: (limitBytes: number) =>
    refusal(413, 'payload_too_large', `The body may have at most ${limitBytes} bytes.`, {
      limit_bytes: limitBytes,
    }),
  unsupportedCoding: (coding: string, supported: string) =>
    refusal(
      415,
      'unsupported_content_encoding',
      `The Content-Encoding "${coding}" is not decoded here. Send ${supported} or no coding.`,
      { supported },
      { 'accept-encoding': supported },
    ),
  draining: () =>
    refusal(
      503,
      'server_draining',
      'This server is shutting down; send the request again.',
      {},
      mayRetryAfter(1),
    ),
  overloaded: () =>
    refusal(
      503,
      'server_overloaded',
      'This server holds too many request bodies; try again shortly.',
      {},
      mayRetryAfter(1),
    ),
  bodiesInFlight: (limitBytes: number) =>
    refusal(
      429,
      'too_many_bytes_in_flight',
      `The requests of one caller may hold ${limitBytes} bytes at a time, and less where others hold much; send this one again when another is answered.`,
      { limit_bytes: limitBytes },
      mayRetryAfter(1),
    ),
  tooManySessions: (max: number) =>
    refusal(
      503,
      'server_overloaded',
      `This server holds ${max} live sessions, as many as it may; try again shortly.`,
      {},
      mayRetryAfter(5),
    ),
  upgradeRequired: () =>
    refusal(
      426,
      'upgrade_required',
      'This route is a WebSocket, version 13.',
      {},
      { upgrade: 'websocket', 'sec-websocket-version': '13' },
    ),
  upgradeWithBody: () => refusal(400, 'Invalid request', 'An upgrade to a WebSocket has no body.'),
  tooManySockets: (max: number, per: 'agent' | 'address') =>
    refusal(
      429,
      'too_many_connections',
      `At most ${max} open sockets per ${per}.`,
      { max, retry_after_seconds: 1 },
      mayRetryAfter(1),
    ),
  crossOrigin: () =>
    refusal(403, 'forbidden', 'A session cookie may write only from the origin it was made for.'),
  /** Refusal that is never sent, because the client is gone. Its code keeps such requests apart in logs and metrics. */
  clientClosed: () => refusal(499, 'client_closed_request', 'The client closed the connection.'),
  internal: () =>
    refusal(
      500,
      'Internal error',
      'The server failed; the request id names the failure.',
      {},
      NO_RETRY,
    ),
  /** Refusal of a body that is no JSON. JSON-RPC names the error so. */
  parseError: () => refusal(400, 'parse_error', 'The body is not valid JSON.'),
};
