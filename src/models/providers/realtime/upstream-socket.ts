import type WebSocket from 'ws';
import type { Clock, TimerHandle } from '../../../kernel/clock.ts';
import { LIMITS } from '../../../kernel/limits.ts';
import type { UpstreamListener, UpstreamSocket } from './realtime-rail.ts';

/** The code where no close frame came. */
const WITHOUT_A_FRAME = 1006;
/** The close code for a frame that is too long, which a client can provoke. */
const FRAME_TOO_LONG = 1009;

/** What came first from an upstream: a frame, or its close. */
type First =
  | { readonly kind: 'frame'; readonly bytes: Buffer }
  | { readonly kind: 'closed'; readonly code: number };

/**
 * An open WebSocket to an upstream, kept paused until it has a listener or its first message is asked for. One that neither
 * says nor answers anything for two pings in a row is taken for gone.
 */
export class LiveUpstream implements UpstreamSocket {
  readonly #ws: WebSocket;
  readonly #clock: Clock;
  #listener: UpstreamListener | undefined;
  /** What it sent before a listener was set: it is paused at the first, and at most what was read with that follows. */
  #early: { readonly bytes: Buffer; readonly isBinary: boolean }[] | undefined = [];
  #firstCame: (first: First) => void = () => {};
  #closed: { readonly code: number; readonly reason: string } | undefined;
  #heard = true;
  #isPaused = true;
  #isOverlong = false;
  #timer: TimerHandle;

  constructor(ws: WebSocket, clock: Clock) {
    this.#ws = ws;
    this.#clock = clock;
    ws.pause();
    ws.on('message', (data: Buffer, isBinary: boolean) => {
      this.#heard = true;
      if (this.#early === undefined) {
        this.#listener?.frame(data, isBinary);
        return;
      }
      this.#early.push({ bytes: data, isBinary });
      this.pause();
      this.#firstCame({ kind: 'frame', bytes: data });
    });
    ws.on('pong', () => {
      this.#heard = true;
    });
    ws.on('close', (code, reason) => this.#over(code, reason.toString('utf8')));
    // The close that follows reports everything except that a frame was too long.
    ws.on('error', ({ code }: Error & { code?: string }) => {
      this.#isOverlong = code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH';
    });
    this.#timer = clock.setTimeout(() => this.#ping(), LIMITS.relayPingMs);
  }

  get unsentBytes(): number {
    return this.#ws.bufferedAmount;
  }

  /** Waits for the first message, which is kept for the listener. To be asked for once, and before there is one. */
  first(): Promise<First> {
    return new Promise((resolve) => {
      this.#firstCame = resolve;
      if (this.#closed !== undefined) resolve({ kind: 'closed', code: this.#closed.code });
      else this.resume();
    });
  }

  listen(listener: UpstreamListener): void {
    this.#listener = listener;
    const early = this.#early ?? [];
    this.#early = undefined;
    if (this.#closed === undefined) this.resume();
    // Any of them may end the session.
    for (const { bytes, isBinary } of early) this.#listener?.frame(bytes, isBinary);
    if (this.#closed !== undefined) this.#listener?.closed(this.#closed.code, this.#closed.reason);
  }

  send(bytes: Uint8Array, isBinary: boolean): void {
    if (this.#ws.readyState === this.#ws.OPEN) this.#ws.send(bytes, { binary: isBinary });
  }

  pause(): void {
    this.#isPaused = true;
    this.#ws.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#heard = true;
    this.#ws.resume();
  }

  /** The listener gets nothing from here on. */
  close(): void {
    this.#listener = undefined;
    this.#early = undefined;
    if (this.#closed !== undefined) return;
    this.resume();
    this.#ws.close(1000);
    this.#clock.clearTimeout(this.#timer);
    this.#timer = this.#clock.setTimeout(() => this.#ws.terminate(), LIMITS.relayCloseMs);
  }

  #ping(): void {
    // While the socket is paused, it reads no pong.
    if (!this.#heard && !this.#isPaused) {
      this.#ws.terminate();
      return;
    }
    this.#heard = false;
    if (this.#ws.readyState === this.#ws.OPEN) this.#ws.ping();
    this.#timer = this.#clock.setTimeout(() => this.#ping(), LIMITS.relayPingMs);
  }

  #over(code: number, reason: string): void {
    this.#clock.clearTimeout(this.#timer);
    const received = code === 0 ? WITHOUT_A_FRAME : code;
    this.#closed = { code: this.#isOverlong ? FRAME_TOO_LONG : received, reason };
    this.#firstCame({ kind: 'closed', code: this.#closed.code });
    this.#listener?.closed(this.#closed.code, reason);
  }
}
