import type WebSocket from 'ws';
import { type Clock, soon, type TimerHandle } from '../../../kernel/clock.ts';
import { MESSAGE_LIMITS } from '../../../platform/messages/limits.ts';
import { MessageBudget } from '../../../platform/messages/message-budget.ts';
import type { MessageSource } from '../../../platform/messages/message-lane.ts';
import type { MessageQueue } from '../../../platform/messages/message-queue.ts';
import { MODEL_LIMITS } from '../../limits.ts';
import type { UpstreamListener, UpstreamSocket } from './realtime-rail.ts';

const { ahead, link: most } = MESSAGE_LIMITS.waiting;

/** Close code of a socket that ended without a close frame. */
const WITHOUT_A_FRAME = 1006;
/** Close of an upstream that sent too much. The turn that this interrupts is not billed. */
const FLOODED = {
  code: WITHOUT_A_FRAME,
  reason: 'messages come faster than they are handled',
} as const;
/** Close code for a frame that is too long, which a client can cause. */
const FRAME_TOO_LONG = 1009;

/** First sign of an upstream: a frame or its close. */
type First =
  | { readonly kind: 'frame'; readonly bytes: Buffer }
  | { readonly kind: 'closed'; readonly code: number };

type Early = { readonly bytes: Buffer; readonly isBinary: boolean };

export type UpstreamDeps = {
  readonly clock: Clock;
  readonly line: MessageQueue;
  /** Agent that the socket was opened for. */
  readonly agentId: number;
};

/**
 * An open WebSocket to an upstream. It stays paused until it has a listener or its first message is requested. It is terminated
 * when it sends nothing within `MODEL_LIMITS.link.pingMs` after a ping. While it exceeds its own message budget, or its agent the
 * budget of all the agent's upstreams, it is not read.
 */
export class LiveUpstream implements UpstreamSocket, MessageSource {
  readonly #ws: WebSocket;
  readonly #clock: Clock;
  readonly #line: MessageQueue;
  readonly #budget: MessageBudget;
  readonly #shared: MessageBudget;
  readonly owner: number;
  #listener: UpstreamListener | undefined;
  /**
   * Frames that came before a listener was set. The socket is paused at the first frame, so only further frames of the same
   * read follow.
   */
  #early: Early[] | undefined = [];
  #firstCame: (first: First) => void = () => {};
  #waiting = 0;
  #waitingBytes = 0;
  #closed: { readonly code: number; readonly reason: string } | undefined;
  #heard = true;
  #isPaused = true;
  #isHeldBack = false;
  #isOverlong = false;
  #isFlooding = false;
  /** Timer until reading continues, set while the upstream has exceeded its message budget. */
  #rest: TimerHandle | undefined;
  #ping: Buffer | undefined;
  #timer: TimerHandle;

  constructor(ws: WebSocket, { agentId, clock, line }: UpstreamDeps) {
    const nowMs = clock.monotonicMs();
    this.#ws = ws;
    this.#clock = clock;
    this.#line = line;
    this.owner = agentId;
    this.#budget = new MessageBudget(nowMs, MESSAGE_LIMITS.links);
    ws.pause();
    this.#shared = line.join(this).links(nowMs);
    ws.on('message', (data: Buffer, isBinary: boolean) => {
      this.#heard = true;
      if (this.#early === undefined) this.#arrived(data, isBinary);
      else this.#cameEarly(this.#early, data, isBinary);
    });
    ws.on('ping', (data: Buffer) => this.#pinged(data));
    ws.on('pong', () => {
      this.#heard = true;
      this.#spend(MESSAGE_LIMITS.pingBytes);
    });
    ws.on('close', (code, reason) => this.#over(code, reason.toString('utf8')));
    // The close that follows reports everything except that a frame was too long.
    ws.on('error', ({ code }: Error & { code?: string }) => {
      this.#isOverlong = code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH';
    });
    this.#timer = clock.setTimeout(() => this.#look(), MODEL_LIMITS.link.pingMs);
  }

  get unsentBytes(): number {
    return this.#ws.bufferedAmount;
  }

  /** Waits for the first message, which is kept for the listener. May be called once, and only before `listen`. */
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
    for (const { bytes, isBinary } of early) this.#arrived(bytes, isBinary);
    this.#tellEnd();
  }

  send(bytes: Uint8Array, isBinary: boolean): void {
    if (this.#ws.readyState === this.#ws.OPEN) this.#ws.send(bytes, { binary: isBinary });
  }

  pause(): void {
    this.#isPaused = true;
    this.#flow();
  }

  resume(): void {
    this.#isPaused = false;
    this.#heard = true;
    this.#flow();
  }

  holdBack(): void {
    this.#isHeldBack = true;
    this.#flow();
  }

  letGo(): void {
    this.#isHeldBack = false;
    this.#flow();
  }

  waited(bytes: Uint8Array, isBinary: boolean): void {
    this.#waiting--;
    this.#waitingBytes -= bytes.byteLength;
    this.#take(bytes as Buffer, isBinary, this.#clock.monotonicMs());
    if (this.#waiting > 0) return;
    this.#flow();
    this.#tellEnd();
  }

  /** Closes the socket. The listener gets no further messages. */
  close(): void {
    this.#listener = undefined;
    this.#early = undefined;
    if (this.#closed !== undefined) return;
    // A close handshake requires reading, which is paused here.
    if (this.#rest !== undefined) {
      this.#ws.terminate();
      return;
    }
    this.resume();
    this.#ws.close(1000);
    this.#clock.clearTimeout(this.#timer);
    this.#timer = this.#clock.setTimeout(() => this.#ws.terminate(), MODEL_LIMITS.link.closeMs);
  }

  #cameEarly(early: Early[], bytes: Buffer, isBinary: boolean): void {
    if (early.length >= most.messages) {
      this.#flooded();
      return;
    }
    early.push({ bytes, isBinary });
    this.pause();
    this.#firstCame({ kind: 'frame', bytes });
  }

  #arrived(bytes: Buffer, isBinary: boolean): void {
    const nowMs = this.#clock.monotonicMs();
    if (this.#line.hasTime(nowMs)) this.#take(bytes, isBinary, nowMs);
    else this.#wait(bytes, isBinary);
  }

  #wait(bytes: Buffer, isBinary: boolean): void {
    if (this.#waiting >= most.messages) {
      this.#flooded();
      return;
    }
    this.#waiting++;
    this.#waitingBytes += bytes.byteLength;
    this.#line.wait(this, bytes, isBinary);
    if (this.#waiting > ahead.messages || this.#waitingBytes > ahead.bytes) this.#flow();
  }

  #take(bytes: Buffer, isBinary: boolean, startedMs: number): void {
    this.#listener?.frame(bytes, isBinary);
    const nowMs = this.#clock.monotonicMs();
    this.#line.used(startedMs, nowMs);
    const isWithin = this.#budget.spend(bytes.byteLength, startedMs, nowMs);
    if (!this.#shared.spend(bytes.byteLength, startedMs, nowMs) || !isWithin) this.#tire();
  }

  #spend(bytes: number): void {
    const nowMs = this.#clock.monotonicMs();
    const isWithin = this.#budget.spend(bytes, nowMs, nowMs);
    if (!this.#shared.spend(bytes, nowMs, nowMs) || !isWithin) this.#tire();
  }

  /** Pauses reading until both message budgets allow more. A socket that is closing is terminated instead. */
  #tire(): void {
    if (this.#rest !== undefined || this.#closed !== undefined) return;
    if (this.#listener === undefined && this.#early === undefined) {
      this.#ws.terminate();
      return;
    }
    const ms = Math.max(1, this.#budget.debtMs, this.#shared.debtMs);
    this.#rest = this.#clock.setTimeout(() => {
      this.#rest = undefined;
      this.#heard = true;
      this.#flow();
    }, ms);
    this.#flow();
  }

  #flow(): void {
    const isAhead = this.#waiting > ahead.messages || this.#waitingBytes > ahead.bytes;
    const isHeld = this.#isPaused || this.#isHeldBack || isAhead;
    if (isHeld || this.#rest !== undefined) this.#ws.pause();
    else this.#ws.resume();
  }

  #flooded(): void {
    this.#isFlooding = true;
    this.#ws.terminate();
  }

  /** Answers only the last ping of each turn of the event loop. */
  #pinged(data: Buffer): void {
    this.#heard = true;
    this.#spend(MESSAGE_LIMITS.pingBytes);
    if (this.#ping === undefined) {
      soon(() => {
        const ping = this.#ping;
        this.#ping = undefined;
        if (this.#ws.readyState === this.#ws.OPEN) this.#ws.pong(ping);
      });
    }
    this.#ping = data;
  }

  #look(): void {
    // A paused socket reads no pong.
    if (!this.#heard && !this.#ws.isPaused) {
      this.#ws.terminate();
      return;
    }
    this.#heard = false;
    if (this.#ws.readyState === this.#ws.OPEN) this.#ws.ping();
    this.#timer = this.#clock.setTimeout(() => this.#look(), MODEL_LIMITS.link.pingMs);
  }

  #over(code: number, reason: string): void {
    this.#clock.clearTimeout(this.#timer);
    if (this.#rest !== undefined) this.#clock.clearTimeout(this.#rest);
    this.#line.leave(this);
    const received = code === 0 ? WITHOUT_A_FRAME : code;
    if (this.#isFlooding) this.#closed = FLOODED;
    else this.#closed = { code: this.#isOverlong ? FRAME_TOO_LONG : received, reason };
    this.#firstCame({ kind: 'closed', code: this.#closed.code });
    this.#tellEnd();
  }

  /** Reports the close to the listener, after all messages that came before it are handled. */
  #tellEnd(): void {
    if (this.#closed === undefined || this.#waiting > 0) return;
    const listener = this.#listener;
    this.#listener = undefined;
    listener?.closed(this.#closed.code, this.#closed.reason);
  }
}
