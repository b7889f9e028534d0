import { assert } from '../../kernel/assert.ts';
import type { Clock } from '../../kernel/clock.ts';
import { ConnectionShares } from './connection-shares.ts';
import { CONNECTION_BOUNDS, type ConnectionBounds, Connections } from './connections.ts';
import type { CheckedDestination, DestinationGuard } from './destination-guard.ts';
import { exchange, type GuardedAnswer } from './exchange.ts';
import type { Asker } from './fair-shares.ts';
import { type Header, outgoingHeaders } from './request-headers.ts';
import { SendFailed } from './send-failed.ts';
import { openConnection, reuseConnection, type TakenConnection } from './take-connection.ts';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

export type GuardedMethod = (typeof METHODS)[number];

export type GuardedRequest = {
  readonly method: GuardedMethod;
  /** Headers in the order and spelling of sending. Hop-by-hop headers, Host, Content-Length and Expect are left out. */
  readonly headers: readonly Header[];
  readonly body?: string | Uint8Array | undefined;
  readonly signal: AbortSignal;
  readonly timeouts: {
    /** Time to connect, for all addresses together. */
    readonly connectMs: number;
    /** Time from the connection to the head of the answer. */
    readonly firstByteMs: number;
    /** Time between two pieces of the body, while the reader wants more. */
    readonly idleMs: number;
    /** Time from the call to the last byte of the body, whichever side is slow. */
    readonly totalMs: number;
  };
  /** Most bytes of the names and values of the answer's headers together. */
  readonly maxHeaderBytes: number;
  readonly maxResponseBytes: number;
};

/** Sends requests to addresses that a caller chose. */
export interface GuardedClient extends AsyncDisposable {
  /** Checks a URL as the guard's `admit` does. The destination serves any number of requests of its asker. */
  open(url: string, asker?: Asker): Promise<CheckedDestination>;
  /**
   * Sends one request once, to an address of the destination and no other. Follows no redirect and decodes no body. Resolves
   * with the head of any answer. Rejects with BadRequestHeader, or with SendFailed, whose `beforeBytes` states whether a byte
   * may have been sent.
   */
  send(destination: CheckedDestination, request: GuardedRequest): Promise<GuardedAnswer>;
}

export type GuardedClientDeps = {
  readonly guard: DestinationGuard;
  readonly clock: Clock;
  /** Certificates (PEM) to trust in place of the system's. */
  readonly ca?: string;
  readonly bounds?: Partial<ConnectionBounds>;
};

/**
 * Connects to the addresses that the guard has checked, and keeps connections by origin and address. Its disposal ends all
 * connections, also those with requests under way.
 */
export function createGuardedClient(deps: GuardedClientDeps): GuardedClient {
  const { guard, clock, ca } = deps;
  const bounds = { ...CONNECTION_BOUNDS, ...deps.bounds };
  const connections = new Connections(bounds);
  const shares = new ConnectionShares(bounds);

  async function send(
    destination: CheckedDestination,
    request: GuardedRequest,
  ): Promise<GuardedAnswer> {
    const { signal, maxHeaderBytes, maxResponseBytes, timeouts } = request;
    const dispatch = dispatchOf(destination, request);
    const nowMs = clock.monotonicMs();
    const deadlineMs = nowMs + timeouts.totalMs;
    if (signal.aborted || connections.isClosed) {
      throw new SendFailed('aborted', { beforeBytes: true, cause: signal.reason });
    }
    const giveBack = await shares.take(destination);
    const perform = ({ connection, lane }: TakenConnection) =>
      exchange(connection, {
        dispatch,
        firstByteMs: timeouts.firstByteMs,
        idleMs: timeouts.idleMs,
        deadlineMs,
        maxResponseBytes,
        signal,
        clock,
        onDone: () => connections.release(lane, connection),
        onOver: giveBack,
      });

    try {
      const kept = await reuseConnection(connections, destination, maxHeaderBytes);
      if (kept !== undefined) {
        try {
          return await perform(kept);
        } catch (error) {
          // The kept connection had closed while it was idle, and nothing was written: the request has not begun.
          const isUnsent = error instanceof SendFailed && error.beforeBytes;
          if (!isUnsent || error.reason !== 'broken') throw error;
        }
      }
      const untilMs = Math.min(nowMs + timeouts.connectMs, deadlineMs);
      const bounds = { maxHeaderBytes, untilMs, signal, clock, ca };
      return await perform(await openConnection(connections, destination, bounds));
    } catch (error) {
      giveBack();
      throw error;
    }
  }

  return {
    open: (url, asker) => guard.admit(url, asker),
    send,
    async [Symbol.asyncDispose]() {
      connections.close();
    },
  };
}

function dispatchOf({ url }: CheckedDestination, { method, headers, body }: GuardedRequest) {
  assert(METHODS.includes(method), 'a method that opens no tunnel');
  const { pathname, search } = new URL(url);
  const sent = outgoingHeaders(headers);
  return {
    path: `${pathname}${search}`,
    method,
    headers: sent.flat(),
    body: body ?? null,
    // Some schemes authenticate a connection and not a request: no other request may follow on that connection.
    ...(sent.some(signsConnectionIn) ? { reset: true } : {}),
  };
}

const signsConnectionIn = ([name, value]: Header) =>
  name.toLowerCase() === 'authorization' && /^(ntlm|negotiate)/i.test(value);
