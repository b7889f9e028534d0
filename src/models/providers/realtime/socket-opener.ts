import type { IncomingMessage } from 'node:http';
import WebSocket from 'ws';
import type { Clock } from '../../../kernel/clock.ts';
import { LIMITS } from '../../../kernel/limits.ts';
import type { MessageQueue } from '../../../kernel/messages/message-queue.ts';
import type { Random } from '../../../kernel/random.ts';
import type { StopSignal } from '../../../kernel/stop-signal.ts';
import { failed, type Outcome } from '../outcome.ts';
import { waitOf } from '../reset-time.ts';
import { awaitFirstSign } from './first-sign.ts';
import { createMaskSource } from './mask-source.ts';
import type { UpstreamSocket } from './realtime-rail.ts';
import { LiveUpstream, type UpstreamDeps } from './upstream-socket.ts';

export type SocketOpenerDeps = {
  readonly clock: Clock;
  readonly line: MessageQueue;
  readonly random: Random;
  readonly connectMs?: number;
};

type Connected = Outcome<{ readonly socket: UpstreamSocket }>;

/**
 * Opens WebSockets to one upstream and waits for its first sign of life. Failures of the upstream are outcomes and not
 * rejections.
 */
export interface SocketOpener extends AsyncDisposable {
  open(
    target: {
      readonly url: URL;
      readonly agentId: number;
      readonly authorization: string | null;
      readonly maxFrameBytes: number;
      /** True when the protocol lets the upstream speak first. Its first frame has the same time limit as the upgrade. */
      readonly greets: boolean;
    },
    signal: StopSignal,
  ): Promise<Connected>;
}

const NO_BODY = new Uint8Array();

/**
 * Creates the opener of sockets to upstreams. It does not follow redirects, which would send the credential to another host.
 * Disposing of it terminates all open sockets.
 */
export function createSocketOpener(deps: SocketOpenerDeps): SocketOpener {
  const { clock, connectMs = LIMITS.upstreamConnectMs, line } = deps;
  const generateMask = createMaskSource(deps.random);
  /** Open sockets; their number is bounded by the live sessions. */
  const open = new Set<WebSocket>();

  return {
    async open({ agentId, authorization, greets, maxFrameBytes, url }, signal) {
      if (signal.aborted) return { kind: 'aborted' };
      const ws = new WebSocket(url, {
        headers: authorization === null ? {} : { authorization },
        handshakeTimeout: connectMs,
        maxPayload: maxFrameBytes,
        perMessageDeflate: false,
        autoPong: false,
        generateMask,
      });
      open.add(ws);
      ws.once('close', () => open.delete(ws));
      const ms = greets ? connectMs : LIMITS.listenOpeningMs;
      return connected(ws, { agentId, clock, greets, line, ms }, signal);
    },
    async [Symbol.asyncDispose]() {
      for (const ws of open) ws.terminate();
    },
  };
}

/** Returns the URL of an upstream's socket: `path` below the base, which may be an http or https URL. */
export function socketUrl(baseUrl: string, path: string): URL {
  const url = new URL(baseUrl);
  url.protocol = url.protocol.replace(/^http/, 'ws');
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${path}`;
  return url;
}

function connected(
  ws: WebSocket,
  opening: UpstreamDeps & Parameters<typeof awaitFirstSign>[1],
  signal: StopSignal,
): Promise<Connected> {
  return new Promise((resolve) => {
    const abort = () => {
      resolve({ kind: 'aborted' });
      ws.terminate();
    };
    signal.addEventListener('abort', abort, { once: true });
    const settle = (outcome: Connected) => {
      signal.removeEventListener('abort', abort);
      resolve(outcome);
    };
    // The open socket is paused in the same turn, so that no frame of it is missed.
    ws.once('open', () => {
      const socket = new LiveUpstream(ws, opening);
      void awaitFirstSign(socket, opening).then((failure) =>
        settle(failure ?? { kind: 'completed', status: 101, socket }),
      );
    });
    ws.once('unexpected-response', (_request, answer: IncomingMessage) => {
      settle(refusalOf(answer, opening.clock.now()));
      ws.terminate();
    });
    ws.on('error', (error: Error & { code?: string }) => {
      const isLate = error.message === 'Opening handshake has timed out';
      settle(failed(isLate ? 'timeout' : 'unreachable', error.code ?? error.message));
    });
  });
}

/** Returns the failure for an HTTP answer in place of a socket. Its text is dropped, because it may quote the credential. */
function refusalOf({ statusCode: status = 0, headers }: IncomingMessage, nowMs: number): Connected {
  const { seconds, ms } = waitOf(headers, nowMs);
  if (status === 429) return failed('rate_limited', 'rate limited', status, seconds, ms);
  if (status < 400 || status >= 500) {
    return failed('broken', `status ${status}`, status, seconds, ms);
  }
  return { kind: 'declined', status, body: NO_BODY, contentType: 'application/json' };
}
