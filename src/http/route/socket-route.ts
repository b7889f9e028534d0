import type { ZodType, z } from 'zod';
import type { ClientSecretUse } from '../../accounts/keys/client-secrets.ts';
import type { Log } from '../../kernel/log.ts';
import type { Span } from '../../platform/tracing/span.ts';
import type { HeaderLine } from './answer.ts';
import type { AgentCaller } from './caller.ts';
import type { Envelope } from './render-error.ts';

/**
 * Places of an upgrade that may carry the agent key: `Authorization: Bearer`, one of the offered sub-protocols (the key itself,
 * or behind `keyProtocolPrefix`), or the `api_key` query parameter.
 */
export type SocketKeySource = 'bearer' | 'subprotocol' | 'query';

/** One open WebSocket. Every call is safe at any time: after the close, calls do nothing. */
export interface SocketConnection {
  /** Request id of the upgrade. */
  readonly id: string;
  readonly agentId: number;
  readonly keyId: number;
  /** Sub-protocol that the upgrade agreed on. Undefined without one. */
  readonly protocol: string | undefined;
  readonly isOpen: boolean;
  /**
   * Bytes that the client has not taken yet. Senders must slow down by this number: beyond `HTTP_LIMITS.socket.backpressureBytes`
   * frames are dropped.
   */
  readonly bufferedAmount: number;
  /**
   * Sends a copy of `data` as a text or binary frame. Returns false when the client is too slow and the frame was dropped; a
   * dropped frame closes the socket with 1013, unless it was `droppable`. UTF-8 bytes leave as a text frame with `asText`.
   */
  send(
    data: string | Uint8Array,
    options?: { readonly droppable?: boolean; readonly asText?: boolean },
  ): boolean;
  /** Runs `work`. All frames that `work` sends leave in one write. */
  batch(work: () => void): void;
  /** Sends a close frame; frames that were sent before still arrive. The reason is cut at 123 bytes. */
  close(code: number, reason?: string): void;
}

/** Handler behind one socket. A throw from any method closes the socket 1011, never the process. */
export interface SocketHandler {
  /** Called once when the socket is open, before the first message. The handler may send from then on. */
  opened(connection: SocketConnection): void;
  /** Handles a message. Bytes are a view that is valid until the call returns: copy the bytes that must be kept. */
  message(data: string | Uint8Array): void;
  /** Handles each frame as received, in place of `message`. The bytes are valid until the call returns, too. */
  frame?(bytes: Uint8Array, isBinary: boolean): void;
  /** Called when the client has caught up after `bufferedAmount` had grown. */
  drained?(): void;
  /**
   * Called when the server shuts down: the handler finishes and closes. Without this method the socket closes at once with
   * 1012.
   */
  draining?(): void;
  /**
   * Called exactly once for every handler that `open` returned, and gives back all that `open` has taken. When the client
   * leaves before the upgrade is done, the code is 1006 and `opened` was not called.
   */
  closed(code: number, reason: string): void;
}

export type SocketContext<Services, Q> = {
  readonly caller: AgentCaller;
  readonly query: Q extends ZodType ? z.output<Q> : undefined;
  /** Query as it came, for a route that hands it on: a name may stand in the query more than once. */
  readonly rawQuery: string;
  /** Handshake headers, names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly services: Services;
  readonly clientAddress: string;
  readonly requestId: string;
  /** Parent span of the session behind the socket. Undefined when the socket is not traced. */
  readonly span?: Span | undefined;
  /** Counts a message or a purchase over the open socket as another request of the upgrade's kind. Throws the 429. */
  readonly admit: () => Promise<void> | undefined;
  /** Counts a session that was admitted for the caller's own provider key as a session that the pool serves. Throws the 429. */
  readonly admitPooled: () => Promise<void> | undefined;
  /** Adds headers to the answer of the upgrade. Has no effect after `open` has returned. */
  readonly answerWith: (headers: Readonly<Record<string, string>>) => void;
  /** Signal that fires when the client leaves before the upgrade is done. */
  readonly signal: AbortSignal;
  readonly log: Log;
};

export type SocketSpec<Services, Q extends ZodType | undefined> = {
  readonly path: `/${string}`;
  readonly credential: 'agent';
  /** One line for the API description. */
  readonly summary: string;
  /** Use of the short-lived keys that also open this socket, for a client that must not hold the agent's own key. */
  readonly admitsClientSecrets?: ClientSecretUse;
  /** Places of the key, in the order in which they are read; the first key that is present decides. */
  readonly authenticateFrom: readonly SocketKeySource[];
  /** Sub-protocols that this socket may agree to, best first. The key is never echoed. */
  readonly protocols: readonly string[];
  /** Prefix of a key among the sub-protocols, such as `openai-insecure-api-key.`. */
  readonly keyProtocolPrefix?: string;
  /** True when `Authorization: Token …` is accepted like `Bearer`. */
  readonly acceptsTokenScheme?: boolean;
  readonly query?: Q;
  /** Headers of the answer to the upgrade beside `x-request-id`. */
  readonly headers?: (requestId: string) => readonly HeaderLine[];
  /** Shape of the upgrade's refusals. */
  readonly envelope?: Exclude<Envelope, 'jsonrpc'>;
  /**
   * `optional` when the caller's own provider key may pay. Requests over this socket then count in the bucket of own keys, as
   * over HTTP.
   */
  readonly providerKey?: 'optional';
  /** Most bytes of a message, by default `HTTP_LIMITS.socket.messageBytes`. A longer message closes the socket with 1009. */
  readonly maxMessageBytes?: number;
  /**
   * Returns the socket's handler. Runs before the upgrade, once for a connection, with the credential checked. A thrown refusal
   * (`refuse.*`) becomes the plain HTTP answer to the upgrade.
   */
  open(context: SocketContext<Services, Q>): Promise<SocketHandler> | SocketHandler;
};

/** Agent's socket of any services and query, as the server handles it. */
// biome-ignore lint/suspicious/noExplicitAny: the one place where sockets of all shapes meet.
export type AgentSocket<Services = any> = SocketSpec<Services, any>;

/**
 * Socket of carriers, which have no key and sign the whole request. `open` calls `believe` once it has verified the signature;
 * an upgrade that is refused before counts as forged at its network. No cap of an agent or an address applies to open sockets.
 */
export type CarrierSocket = {
  readonly path: `/${string}`;
  readonly credential: 'carrier';
  readonly summary: string;
  readonly protocols: readonly string[];
  readonly maxMessageBytes?: number;
  /** Returns the socket's handler. Throws the refusal of an upgrade that no carrier has signed. */
  open(context: CarrierContext): Promise<SocketHandler> | SocketHandler;
};

export type CarrierContext = {
  readonly believe: () => void;
  /** Path and query as received. */
  readonly url: string;
  /** Handshake headers, names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly requestId: string;
  readonly span?: Span | undefined;
  readonly log: Log;
};

export type AnySocket = AgentSocket | CarrierSocket;

/** Declares a WebSocket endpoint. The type argument names all services that the endpoint may use. */
export const socketRoute =
  <Services = unknown>() =>
  <Q extends ZodType | undefined = undefined>(
    spec: SocketSpec<Services, Q>,
  ): SocketSpec<Services, Q> =>
    spec;

/** Returns the shape of an upgrade's refusals. */
export const envelopeOf = (socket: AnySocket): Exclude<Envelope, 'jsonrpc'> =>
  socket.credential === 'agent' ? (socket.envelope ?? 'flat') : 'flat';
