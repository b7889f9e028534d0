import WebSocket from 'ws';
import type { Clock } from '../../kernel/clock.ts';
import { connectToAny } from './connect-to-any.ts';
import type { CheckedDestination, DestinationGuard } from './destination-guard.ts';
import { SendFailed, type SendFailure } from './send-failed.ts';

export type WebSocketDeps = {
  readonly guard: DestinationGuard;
  readonly clock: Clock;
  /** Certificates (PEM) to trust in place of the system's. */
  readonly ca?: string | undefined;
};

export type WebSocketBounds = {
  /** Time from the look-up of the name to the end of the handshake. */
  readonly connectMs: number;
  readonly maxMessageBytes: number;
  readonly signal: AbortSignal;
  /** Headers of the handshake in addition to its own. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
};

/**
 * Opens a WebSocket to an address that a caller chose and the guard has checked; follows no redirect. The socket is paused, so
 * that no message is missed, and does not answer pings itself. Rejects with BlockedDestination, Unreachable or SendFailed.
 */
export async function openWebSocket(
  { ca, clock, guard }: WebSocketDeps,
  url: string,
  { connectMs, headers = {}, maxMessageBytes, signal }: WebSocketBounds,
): Promise<WebSocket> {
  const untilMs = clock.monotonicMs() + connectMs;
  // The guard checks web addresses, and a socket begins as a request to a web address.
  const destination = await guard.admit(url.replace(/^ws/i, 'http'));
  const { socket } = await connectToAny(destination, { untilMs, signal, clock, ca });
  const ws = new WebSocket(socketUrl(destination), {
    createConnection: () => socket,
    headers: { ...headers },
    maxPayload: maxMessageBytes,
    perMessageDeflate: false,
    autoPong: false,
  });
  return shakenHands(ws, { untilMs, signal, clock });
}

const socketUrl = ({ url }: CheckedDestination): string => url.replace(/^http/, 'ws');

function shakenHands(
  ws: WebSocket,
  { clock, signal, untilMs }: { untilMs: number; signal: AbortSignal; clock: Clock },
): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const fail = (reason: SendFailure, cause?: unknown) => {
      finish();
      reject(new SendFailed(reason, { beforeBytes: false, cause }));
      ws.terminate();
    };
    const onAbort = () => fail('aborted', signal.reason);
    const timer = clock.setTimeout(() => fail('timeout'), untilMs - clock.monotonicMs());
    const finish = () => {
      clock.clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    };
    ws.once('open', () => {
      finish();
      ws.pause();
      resolve(ws);
    });
    ws.once('unexpected-response', (_request, { statusCode }) =>
      fail('broken', new Error(`status ${statusCode}`)),
    );
    // This listener stays: an unhandled error event would end the process.
    ws.on('error', (error) => fail('broken', error));
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
}
