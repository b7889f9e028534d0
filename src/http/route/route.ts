import type { ZodType, z } from 'zod';
import type { ClientSecretUse } from '../../accounts/keys/client-secrets.ts';
import type { JsonBounds } from '../../kernel/json/parse-json.ts';
import type { Log } from '../../kernel/log.ts';
import type { StopSignal } from '../../kernel/stop-signal.ts';
import type { Span } from '../../kernel/trace/span.ts';
import type { HeaderLine, HttpAnswer } from './answer.ts';
import type { CallerOf, Credential } from './caller.ts';
import type { Envelope } from './render-error.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Reply of a handler. Bytes and streams of bytes are sent as they are, everything else as JSON. */
export type RouteReply = {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
  /** Further headers, in their order; a name may come more than once. */
  readonly lines?: readonly HeaderLine[];
  /** Time spent waiting for others, which is not counted as this server's overhead. */
  readonly upstreamMs?: number;
};

export type RateLimit =
  | 'none'
  | 'key'
  | 'gateway'
  | 'proxy'
  | 'ledger'
  | 'control'
  | 'try'
  | 'search'
  | 'ip';

/** Replaces a shape: the handler reads the body while it arrives, and refuses a bad body itself. */
export type StreamedBody = { readonly streamOf: string; readonly shape?: ZodType };

/** Declares a body that is read while it arrives, by its media type; the shape is for the API description alone. */
export const streamedBody = (mediaType: string, shape?: ZodType): StreamedBody => ({
  streamOf: mediaType,
  ...(shape === undefined ? {} : { shape }),
});

export const isStreamed = (body: object | undefined): body is StreamedBody =>
  body !== undefined && 'streamOf' in body;

type Output<S> = S extends ZodType
  ? z.output<S>
  : S extends StreamedBody
    ? AsyncIterable<Uint8Array>
    : undefined;

export type Context<Services, C extends Credential, P, Q, B> = {
  readonly caller: CallerOf[C];
  readonly params: Output<P>;
  readonly query: Output<Q>;
  readonly body: Output<B>;
  readonly services: Services;
  /** Path and query, as they came. */
  readonly url: string;
  /** Request headers, names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly clientAddress: string;
  readonly requestId: string;
  /** Parent span of the work for the request. Undefined when the request is not traced. */
  readonly span: Span | undefined;
  /** Under an Idempotency-Key: the id of the hold that this request may open, so that a crash leaves no doubt. */
  readonly workId: string | undefined;
  /** Counts a request with the caller's own provider key as a request that the pool serves. Throws the 429. */
  readonly admitPooled: () => Promise<void> | undefined;
  /** Fires when the client goes away. */
  readonly signal: StopSignal;
  /** Calls back when the request is over: its answer is sent, or its client has left. */
  readonly onOver: (callback: () => void) => void;
  readonly log: Log;
  /**
   * Calls another route in this process in the name of the same caller, as a separate request would: credential, idempotency,
   * rate limit and shape are the other route's. A refusal is returned as an answer, too; nothing is thrown.
   */
  readonly ask: AskRoute;
};

export type RouteCall = {
  readonly route: AnyRoute;
  /** JSON body that is parsed already. */
  readonly body?: unknown;
  readonly idempotencyKey?: string | undefined;
  /** Signal that stops the call, in place of the client's leaving. */
  readonly signal: StopSignal;
};

export type AskRoute = (call: RouteCall) => Promise<{
  readonly answer: HttpAnswer;
  /** Milliseconds that the other route waited for upstreams. */
  readonly upstreamMs: number;
}>;

export type LostWork<Services, C extends Credential> = {
  readonly caller: CallerOf[C];
  readonly services: Services;
  readonly workId: string;
};

export type RouteSpec<Services, C extends Credential, P, Q, B> = {
  readonly method: Method;
  /** `:name` marks a parameter. */
  readonly path: `/${string}`;
  /** The last parameter of the path is an id that may have slashes, as they are or as `%2F`. */
  readonly endsInId?: boolean;
  readonly credential: C;
  /** One line for the API description. */
  readonly summary: string;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** The successful answer's shape, for the API description. */
  readonly response?: ZodType;
  readonly status?: number;
  /** `read_write` by default on everything but GET; estimates and the like state `read`. */
  readonly permission?: 'read' | 'read_write';
  readonly rateLimit?: RateLimit;
  /** Answers closed agents too. Every other agent route refuses them with `account_closed`. */
  readonly admitsClosed?: boolean;
  /** Answers agents whose delegation has ended. Every other agent route refuses them with `delegation_expired`. */
  readonly admitsExpired?: boolean;
  /** Takes short-lived keys of this use in the place of the agent's own. */
  readonly admitsClientSecrets?: ClientSecretUse;
  /** `Authorization: Token …` is as good as `Bearer`. */
  readonly acceptsTokenScheme?: boolean;
  /** Rule for a caller's own provider key: it may be sent, or must be. */
  readonly providerKey?: 'optional' | 'required';
  /** Takes Idempotency-Key. */
  readonly idempotent?: boolean;
  /**
   * Returns the answer of keyed work whose process was lost before it stored an answer. Undefined: the ledger alone decides
   * whether the work is done again.
   */
  readonly recall?: (lost: LostWork<Services, C>) => Promise<RouteReply | undefined>;
  /** Keeps refusals that may pass under that key as well, so that a request is never sent on twice under one key. */
  readonly keepsRefusals?: boolean;
  readonly maxBodyBytes?: number;
  /** Bounds of the JSON body, when they differ from the bounds of other bodies. */
  readonly json?: JsonBounds;
  /** The header in which clients of the route's dialect may send the agent's key in place of a Bearer. */
  readonly keyHeader?: 'x-api-key';
  /** Shape of refusals: `flat` by default, a vendor's on the inference gateway, `jsonrpc` for JSON-RPC bodies. */
  readonly envelope?: Envelope;
  /** Clients that send `anthropic-version` read its refusals in Anthropic's envelope. */
  readonly alsoAnthropic?: true;
  /** A body that is not JSON reads as this refusal; the specification spells it differently per area. */
  readonly badJson?: () => Error;
  handle(context: Context<Services, C, P, Q, B>): Promise<RouteReply> | RouteReply;
};

/** A route as the edge sees it, whatever services and shapes it declared. */
// biome-ignore lint/suspicious/noExplicitAny: the one place where routes of all shapes meet.
export type AnyRoute<Services = any> = RouteSpec<Services, any, any, any, any>;

/** Declares a route. The type argument names all services that the route may use. */
export const route =
  <Services = unknown>() =>
  <
    C extends Credential,
    P extends ZodType | undefined = undefined,
    Q extends ZodType | undefined = undefined,
    B extends ZodType | StreamedBody | undefined = undefined,
  >(
    spec: RouteSpec<Services, C, P, Q, B>,
  ): RouteSpec<Services, C, P, Q, B> =>
    spec;

export const ok = (body: unknown, headers: Record<string, string> = {}): RouteReply => ({
  status: 200,
  body,
  headers,
});

export const created = (body: unknown, headers: Record<string, string> = {}): RouteReply => ({
  status: 201,
  body,
  headers,
});
