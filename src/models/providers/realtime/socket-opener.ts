import type { IncomingMessage } from 'node:http';
import WebSocket from 'ws';
import { type Clock, within } from '../../../kernel/clock.ts';
import { parseObject } from '../../../kernel/json/parse-json.ts';
import type { Random } from '../../../kernel/random.ts';
import type { StopSignal } from '../../../kernel/stop-signal.ts';
import { EGRESS_LIMITS } from '../../../platform/egress/limits.ts';
import type { MessageQueue } from '../../../platform/messages/message-queue.ts';
import { MODEL_LIMITS } from '../../limits.ts';
import { type Failed, failed, type Outcome } from '../outcome.ts';
import { waitOf } from '../reset-time.ts';
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
const MASK_POOL_BYTES = 4_096;

/**
 * Creates the opener of sockets to upstreams. It does not follow redirects, which would send the credential to another host.
 * Disposing of it terminates all open sockets.
 */
export function createSocketOpener(deps: SocketOpenerDeps): SocketOpener {
  const { clock, connectMs = EGRESS_LIMITS.connectMs, line } = deps;
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
      const ms = greets ? connectMs : MODEL_LIMITS.link.listenOpeningMs;
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

/**
 * Waits up to `ms` for the first message of an upstream that accepted the upgrade, and returns its failure, if any. It has
 * failed when it closes or sends an error first, or when it stays silent although its protocol begins with a greeting. Silence
 * is no failure in a protocol without a greeting.
 */
async function awaitFirstSign(
  upstream: LiveUpstream,
  { clock, greets, ms }: { readonly clock: Clock; readonly greets: boolean; readonly ms: number },
): Promise<Failed | undefined> {
  const first = await within(clock, ms, upstream.first(), () => undefined);
  const failure = first === undefined ? silence(greets) : problemOf(first);
  if (failure !== undefined) upstream.close();
  else upstream.pause();
  return failure;
}

const silence = (greets: boolean): Failed | undefined =>
  greets ? failed('timeout', 'it did not greet') : undefined;

/** Returns the failure that an upstream's first message reports. Its text is dropped, because it may quote the credential. */
function problemOf(first: Awaited<ReturnType<LiveUpstream['first']>>): Failed | undefined {
  if (first.kind === 'closed') return failed('broken', `closed ${first.code} at once`);
  return isError(first.bytes) ? failed('broken', 'refused at once') : undefined;
}

/** Returns true for an error message. Its type is `error` in one protocol and `Error` in the other. */
function isError(frame: Buffer): boolean {
  const { type } = parseObject(frame);
  return type === 'error' || type === 'Error';
}

/**
 * Creates masks for frames to upstreams from one pool of random bytes. A mask is never four zeros: a frame with such a mask is
 * sent without a copy, from memory that may be reused before the frame is sent.
 *
 * @internal A test goes through its pool.
 */
export function createMaskSource(random: Random): (mask: Uint8Array) => void {
  let pool: Uint8Array = new Uint8Array();
  let used = 0;
  return (mask) => {
    if (used + 4 > pool.length) {
      pool = random.bytes(MASK_POOL_BYTES);
      used = 0;
    }
    mask.set(pool.subarray(used, used + 4));
    mask[3] = (mask[3] ?? 0) | 1;
    used += 4;
  };
}
