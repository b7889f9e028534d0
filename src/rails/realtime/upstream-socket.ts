import type WebSocket from 'ws';
import type { Clock, TimerHandle } from '../../kernel/clock.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { UpstreamListener, UpstreamSocket } from './realtime-rail.ts';

/** No close frame came. */
const WITHOUT_A_FRAME = 1006;
/** Whoever closed because of it: a client can ask for such a frame. */
const FRAME_TOO_LONG = 1009;

/**
 * An open WebSocket to an upstream, kept paused until somebody listens. One that neither says nor answers anything
 * for two pings in a row is taken for gone.
 */
export class LiveUpstream implements UpstreamSocket {
  readonly #ws: WebSocket;
  readonly #clock: Clock;
  #listener: UpstreamListener | undefined;
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
      this.#listener?.frame(data, isBinary);
    });
    ws.on('pong', () => {
      this.#heard = true;
    });
    ws.on('close', (code, reason) => this.#over(code, reason.toString('utf8')));
    // The close that follows says all there is to know, but that a frame was too long to be taken from it.
    ws.on('error', ({ code }: Error & { code?: string }) => {
      this.#isOverlong = code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH';
    });
    this.#timer = clock.setTimeout(() => this.#ping(), LIMITS.relayPingMs);
  }

  get unsentBytes(): number {
    return this.#ws.bufferedAmount;
  }

  listen(listener: UpstreamListener): void {
    this.#listener = listener;
    if (this.#closed !== undefined) listener.closed(this.#closed.code, this.#closed.reason);
    else this.resume();
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

  close(): void {
    if (this.#closed !== undefined) return;
    this.#listener = undefined;
    this.resume();
    this.#ws.close(1000);
    this.#clock.clearTimeout(this.#timer);
    this.#timer = this.#clock.setTimeout(() => this.#ws.terminate(), LIMITS.relayCloseMs);
  }

  #ping(): void {
    // While nothing is read, no answer can be.
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
    const told = code === 0 ? WITHOUT_A_FRAME : code;
    this.#closed = { code: this.#isOverlong ? FRAME_TOO_LONG : told, reason };
    this.#listener?.closed(this.#closed.code, reason);
  }
}
