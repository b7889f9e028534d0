import type { ZodType, z } from 'zod';
import type { Right } from '../../accounts/developers/role.ts';
import type { ClientSecretUse } from '../../accounts/keys/client-secrets.ts';
import type { JsonBounds } from '../../kernel/json/parse-json.ts';
import type { Log } from '../../kernel/log.ts';
import type { StopSignal } from '../../kernel/stop-signal.ts';
import type { Span } from '../../platform/tracing/span.ts';
import type { HeaderLine, HttpAnswer } from './answer.ts';
import type { CallerOf, Credential, Permission } from './caller.ts';
import type { Envelope } from './render-error.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Reply of a handler. Bytes and streams of bytes are sent as they are, everything else as JSON. */
export type RouteReply = {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
  /** Further headers, in their order; a name may come more than once. */
  readonly lines?: readonly HeaderLine[];
  /** Milliseconds that the route waited for upstreams. They do not count as this server's overhead. */
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
  | 'invite'
  | 'ip';

/** Replaces a shape: the handler reads the body while it arrives, and refuses a bad body itself. */
export type StreamedBody = { readonly streamOf: string; readonly shape?: ZodType };

/** Declares a body of this media type that is read while it arrives. `shape` is for the API description alone. */
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
  /** Path and query as received. */
  readonly url: string;
  /** Request headers, names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly clientAddress: string;
  readonly requestId: string;
  /** Parent span of the work for the request. Undefined when the request is not traced. */
  readonly span: Span | undefined;
  /**
   * Id of the hold that a request with an Idempotency-Key may open, so that its outcome is known after a crash. Undefined
   * without a key.
   */
  readonly workId: string | undefined;
  /** Counts a request with the caller's own provider key as a request that the pool serves. Throws the 429. */
  readonly admitPooled: () => Promise<void> | undefined;
  /** Signal that fires when the client leaves. */
  readonly signal: StopSignal;
  /** Registers a callback for the end of the request: its answer is sent, or its client has left. */
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
  /** Parameters of the query. */
  readonly query?: Readonly<Record<string, string>> | undefined;
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
  /** Path in which `:name` marks a parameter. */
  readonly path: `/${string}`;
  /** True when the last parameter of the path is an id that may have slashes, as they are or as `%2F`. */
  readonly endsInId?: boolean;
  readonly credential: C;
  /** One line for the API description. */
  readonly summary: string;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** Shape of the successful answer, for the API description. */
  readonly response?: ZodType;
  readonly status?: number;
  /**
   * Permission that the key needs: by default `read` for GET and `read_write` for other methods. Estimates and the like state
   * `read`.
   */
  readonly permission?: Permission;
  /**
   * Right that the role of a developer must have: by default `read` for a route that needs the permission to read, `work` for
   * any other. A route that moves money out of agents states `money_out`.
   */
  readonly right?: Right;
  readonly rateLimit?: RateLimit;
  /** True when closed agents are served too. Every other agent route refuses them with `account_closed`. */
  readonly admitsClosed?: boolean;
  /**
   * True when agents whose delegation has ended are served too. Every other agent route refuses them with `delegation_expired`.
   */
  readonly admitsExpired?: boolean;
  /** Use of the short-lived keys that the route accepts in place of the agent's own key. */
  readonly admitsClientSecrets?: ClientSecretUse;
  /** True when `Authorization: Token …` is accepted like `Bearer`. */
  readonly acceptsTokenScheme?: boolean;
  /** Rule for a caller's own provider key: it may be sent, or must be. */
  readonly providerKey?: 'optional' | 'required';
  /** True when the route accepts Idempotency-Key. */
  readonly idempotent?: boolean;
  /**
   * Returns the answer of keyed work whose process was lost before it stored an answer. Undefined: the ledger alone decides
   * whether the work is done again.
   */
  readonly recall?: (lost: LostWork<Services, C>) => Promise<RouteReply | undefined>;
  /**
   * True when refusals that may pass are also kept under the idempotency key, so that no request is sent on twice under one
   * key.
   */
  readonly keepsRefusals?: boolean;
  readonly maxBodyBytes?: number;
  /** Bounds of the JSON body, when they differ from the bounds of other bodies. */
  readonly json?: JsonBounds;
  /** Header in which clients of the route's dialect may send the agent's key in place of `Authorization: Bearer`. */
  readonly keyHeader?: 'x-api-key';
  /** Shape of refusals: `flat` by default, a vendor's on the inference gateway, `jsonrpc` for JSON-RPC bodies. */
  readonly envelope?: Envelope;
  /** True when clients that send `anthropic-version` get refusals in Anthropic's shape. */
  readonly alsoAnthropic?: true;
  /** Returns the refusal of a body that is not JSON. The specification spells it differently in each area. */
  readonly badJson?: () => Error;
  handle(context: Context<Services, C, P, Q, B>): Promise<RouteReply> | RouteReply;
};

/** Route of any services and shapes, as the server handles it. */
// biome-ignore lint/suspicious/noExplicitAny: the one place where routes of all shapes meet.
export type AnyRoute<Services = any> = RouteSpec<Services, any, any, any, any>;

type Demanding = Pick<AnyRoute, 'method' | 'permission' | 'right'>;

/** Returns the permission that a route needs of a key. */
export const permissionOf = ({ method, permission }: Omit<Demanding, 'right'>): Permission =>
  permission ?? (method === 'GET' ? 'read' : 'read_write');

/** Returns the right that a route needs of a developer. */
export const rightOf = (route: Demanding): Right =>
  route.right ?? (permissionOf(route) === 'read' ? 'read' : 'work');

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
