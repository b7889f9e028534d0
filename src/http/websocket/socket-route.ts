import type { ZodType, z } from 'zod';
import type { ClientSecretUse } from '../../accounts/keys/client-secrets.ts';
import type { Log } from '../../kernel/log.ts';
import type { Span } from '../../kernel/trace/span.ts';
import type { HeaderLine } from '../route/answer.ts';
import type { AgentCaller } from '../route/caller.ts';
import type { Envelope } from '../route/render-error.ts';

/**
 * Places of an upgrade that may carry the agent key: `Authorization: Bearer`, one of the offered sub-protocols (the key itself,
 * or behind `keyProtocolPrefix`), or the `api_key` query parameter.
 */
export type SocketKeySource = 'bearer' | 'subprotocol' | 'query';

/** One open WebSocket. Every call is safe at any time: after the close, calls do nothing. */
export interface SocketConnection {
  /** The request id of the upgrade. */
  readonly id: string;
  readonly agentId: number;
  readonly keyId: number;
  /** The sub-protocol that was agreed, if any. */
  readonly protocol: string | undefined;
  readonly isOpen: boolean;
  /**
   * Bytes that the client has not taken yet. Senders must slow down by this number: beyond `LIMITS.socketBackpressureBytes`
   * frames are dropped.
   */
  readonly bufferedAmount: number;
  /**
   * Sends a text or a binary frame; the bytes are copied. False when the client is too slow and the
   * frame was dropped. A dropped frame closes the socket with 1013, unless it was `droppable`. Bytes that are UTF-8
   * leave as a text frame when they are sent `asText`.
   */
  send(
    data: string | Uint8Array,
    options?: { readonly droppable?: boolean; readonly asText?: boolean },
  ): boolean;
  /** Runs `work` so that all frames sent in it leave in one write. */
  batch(work: () => void): void;
  /** Sends a close frame; frames that were sent before still arrive. The reason is cut at 123 bytes. */
  close(code: number, reason?: string): void;
}

/** Handler behind one socket. A throw from any method closes the socket 1011, never the process. */
export interface SocketHandler {
  /** The socket stands: called once, before the first message. Sending is allowed from here on. */
  opened(connection: SocketConnection): void;
  /** Handles a message. Bytes are a view that is valid until the call returns: copy the bytes that must be kept. */
  message(data: string | Uint8Array): void;
  /** In the place of `message`, for who wants every frame as it came. The bytes die in the same way. */
  frame?(bytes: Uint8Array, isBinary: boolean): void;
  /** Called when the client has caught up after `bufferedAmount` had grown. */
  drained?(): void;
  /** The server is shutting down: finish and close. Without this method the socket closes 1012 at once. */
  draining?(): void;
  /**
   * Called exactly once for every handler that `open` returned, also when the client left before the
   * upgrade was done (then without `opened`, with 1006). Whatever `open` took is given back here.
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
  /** Counts a message or a purchase over the open socket as a request like the upgrade. Throws the 429. */
  readonly admit: () => Promise<void> | undefined;
  /** Counts a session that was admitted for the caller's own provider key as a session that the pool serves. Throws the 429. */
  readonly admitPooled: () => Promise<void> | undefined;
  /** Adds headers to the answer of the upgrade; after `open` has returned they come too late. */
  readonly answerWith: (headers: Readonly<Record<string, string>>) => void;
  /** Fires when the client goes away before the upgrade is done. */
  readonly signal: AbortSignal;
  readonly log: Log;
};

export type SocketSpec<Services, Q extends ZodType | undefined> = {
  readonly path: `/${string}`;
  readonly credential: 'agent';
  /** One line for the API description. */
  readonly summary: string;
  /** Short-lived keys of this use, for a client that must not hold the agent's own, open this socket, too. */
  readonly admitsClientSecrets?: ClientSecretUse;
  /** Places of the key, in the order in which they are read; the first key that is present decides. */
  readonly authenticateFrom: readonly SocketKeySource[];
  /** The sub-protocols this socket may agree to, best first. The key is never echoed. */
  readonly protocols: readonly string[];
  /** Further spellings of a key among the sub-protocols, such as `openai-insecure-api-key.`. */
  readonly keyProtocolPrefix?: string;
  /** `Authorization: Token …` is as good as `Bearer`. */
  readonly acceptsTokenScheme?: boolean;
  readonly query?: Q;
  /** Headers of the answer to the upgrade beside `x-request-id`. */
  readonly headers?: (requestId: string) => readonly HeaderLine[];
  /** Shape of the upgrade's refusals. */
  readonly envelope?: Exclude<Envelope, 'jsonrpc'>;
  /** A provider key of the caller may pay: the requests over this socket count in the bucket of own keys, as over HTTP. */
  readonly providerKey?: 'optional';
  /** `LIMITS.socketMessageBytes` by default; beyond it the socket closes 1009. */
  readonly maxMessageBytes?: number;
  /**
   * Runs before the upgrade, with the credential checked. A thrown refusal (`refuse.*`) is the plain
   * HTTP answer to the upgrade. At most one call per connection.
   */
  open(context: SocketContext<Services, Q>): Promise<SocketHandler> | SocketHandler;
};

/** A socket as the edge sees it, whatever services and query it declared. */
// biome-ignore lint/suspicious/noExplicitAny: the one place where sockets of all shapes meet.
export type AgentSocket<Services = any> = SocketSpec<Services, any>;

/**
 * A socket of carriers. They have no key and sign the whole request instead: `open` calls `believe` once it has found the
 * signature good, and an upgrade that is refused before that counts as forged at its network. Open sockets are under no cap
 * of an agent or an address.
 */
export type CarrierSocket = {
  readonly path: `/${string}`;
  readonly credential: 'carrier';
  readonly summary: string;
  readonly protocols: readonly string[];
  readonly maxMessageBytes?: number;
  /** Throws the refusal of an upgrade that no carrier has signed. */
  open(context: CarrierContext): Promise<SocketHandler> | SocketHandler;
};

export type CarrierContext = {
  readonly believe: () => void;
  /** Path and query, as they came. */
  readonly url: string;
  /** Handshake headers, names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly requestId: string;
  readonly span?: Span | undefined;
  readonly log: Log;
};

export type AnySocket = AgentSocket | CarrierSocket;

/** Declares a WebSocket endpoint. The type argument is its whole reach into the world. */
export const socketRoute =
  <Services = unknown>() =>
  <Q extends ZodType | undefined = undefined>(
    spec: SocketSpec<Services, Q>,
  ): SocketSpec<Services, Q> =>
    spec;

/** Returns the shape of an upgrade's refusals. */
export const envelopeOf = (socket: AnySocket): Exclude<Envelope, 'jsonrpc'> =>
  socket.credential === 'agent' ? (socket.envelope ?? 'flat') : 'flat';
