import type { HttpResponse, WebSocket } from 'uWebSockets.js';
import { DRAINING } from '../../../machines/draining.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { MESSAGE_LIMITS } from '../../platform/messages/limits.ts';
import { MessageBudget } from '../../platform/messages/message-budget.ts';
import type { MessageSource } from '../../platform/messages/message-lane.ts';
import type { MessageQueue } from '../../platform/messages/message-queue.ts';
import { HTTP_LIMITS } from '../limits.ts';
import type { SocketConnection, SocketHandler } from '../route/socket-route.ts';
import type { LiveSocket, Seat } from './socket-registry.ts';

/** Result of the library's `send` when the client's backlog was full and the frame is lost. */
const DROPPED = 2;

export type SessionOptions = {
  readonly id: string;
  readonly agentId: number;
  readonly keyId: number;
  readonly protocol: string | undefined;
  readonly handler: SocketHandler;
  readonly seat: Seat;
  readonly maxMessageBytes: number;
  readonly clock: Clock;
  readonly line: MessageQueue;
  readonly log: Log;
};

/** Calls of an HTTP response that pause and resume reading its connection; the socket has none (docs/decisions/0111). */
export type ReadPause = Pick<HttpResponse, 'pause' | 'resume'>;

type SendOptions = { readonly droppable?: boolean; readonly asText?: boolean };

/** User data that the library keeps with each socket. */
export type SocketData = { readonly session: SocketSession };

/**
 * One socket between the library and its handler, which uses it as its connection. A throw of the handler closes the socket and
 * nothing else, and a closed socket is never touched again.
 */
export class SocketSession implements SocketConnection, MessageSource {
  // Fields that every message needs come first (docs/decisions/0109).
  #socket: WebSocket<SocketData> | undefined;
  readonly #maxMessageBytes: number;
  readonly #clock: Clock;
  readonly #budget: MessageBudget;
  readonly #line: MessageQueue;
  readonly #handler: SocketHandler;
  /** Number of messages that wait for a later turn of the event loop. */
  #waiting = 0;
  #waitingBytes = 0;
  #reading: ReadPause | undefined;
  #isHeldBack = false;
  #isPaused = false;
  /** Close code and reason of a client that left while its earlier messages still wait. */
  #left: { readonly code: number; readonly reason: string } | undefined;
  /** True once this side has closed the socket: further messages of the client are dropped. */
  #isEnded = false;
  #isOver = false;
  readonly id: string;
  readonly agentId: number;
  readonly keyId: number;
  readonly protocol: string | undefined;
  readonly #seat: Seat;
  readonly #log: Log;

  constructor(options: SessionOptions) {
    this.id = options.id;
    this.agentId = options.agentId;
    this.keyId = options.keyId;
    this.protocol = options.protocol;
    this.#handler = options.handler;
    this.#maxMessageBytes = options.maxMessageBytes;
    this.#clock = options.clock;
    this.#budget = new MessageBudget(options.clock.monotonicMs(), HTTP_LIMITS.socket.rates);
    this.#line = options.line;
    this.#seat = options.seat;
    this.#log = options.log;
  }

  get isOpen(): boolean {
    return this.#socket !== undefined;
  }

  get bufferedAmount(): number {
    return this.#socket?.getBufferedAmount() ?? 0;
  }

  /** Returns the agent's id. Without an agent each socket is an owner of its own. */
  get owner(): number | object {
    return this.agentId === 0 ? this : this.agentId;
  }

  /** Sets the calls that pause and resume the connection: methods of its response, which outlive the upgrade. */
  readBy({ pause, resume }: ReadPause): void {
    this.#reading = { pause, resume };
  }

  opened(socket: WebSocket<SocketData>): void {
    this.#socket = socket;
    this.#line.join(this);
    this.#guard(() => this.#handler.opened(this));
    if (!this.#isOver) this.#seat.occupy(this.#live());
  }

  message(data: ArrayBuffer, isBinary: boolean): void {
    if (this.#socket === undefined) return;
    if (data.byteLength > this.#maxMessageBytes) {
      this.close(1009, `a message may have at most ${this.#maxMessageBytes} bytes`);
      return;
    }
    const nowMs = this.#clock.monotonicMs();
    if (!this.#budget.arrived(data.byteLength, nowMs)) this.close(1008, TOO_MANY_BYTES);
    else if (this.#line.hasTime(nowMs)) this.#take(new Uint8Array(data), isBinary, nowMs);
    else this.#wait(data, isBinary);
  }

  /** Counts a ping, which the library has answered, or a pong. Closes the socket when its budget is exceeded. */
  controlFrame(): void {
    if (this.#socket === undefined) return;
    const isWithin = this.#budget.arrived(MESSAGE_LIMITS.pingBytes, this.#clock.monotonicMs());
    if (!isWithin) this.close(1008, TOO_MANY_BYTES);
  }

  waited(bytes: Uint8Array, isBinary: boolean): void {
    this.#waiting--;
    this.#waitingBytes -= bytes.byteLength;
    if (!this.#isEnded && !this.#isOver) this.#take(bytes, isBinary, this.#clock.monotonicMs());
    if (this.#waiting > 0) return;
    this.#flow();
    if (this.#left !== undefined) this.closed(this.#left.code, this.#left.reason);
  }

  holdBack(): void {
    this.#isHeldBack = true;
    this.#flow();
  }

  letGo(): void {
    this.#isHeldBack = false;
    this.#flow();
  }

  #wait(data: ArrayBuffer, isBinary: boolean): void {
    const { ahead, socket } = MESSAGE_LIMITS.waiting;
    this.#waiting++;
    this.#waitingBytes += data.byteLength;
    if (this.#waiting > socket.messages || this.#waitingBytes > socket.bytes) {
      this.close(1008, 'messages come faster than they are handled');
      return;
    }
    this.#line.wait(this, this.#line.keep(data), isBinary);
    if (this.#waiting > ahead.messages || this.#waitingBytes > ahead.bytes) this.#pause();
  }

  /** Pauses or resumes reading, by the state of the message queue and of this socket's waiting messages. */
  #flow(): void {
    if (this.#isHeldBack && !this.#isEnded) this.#pause();
    else if (this.#isPaused && (this.#waiting === 0 || this.#isEnded)) this.#resume();
  }

  /**
   * Pauses reading, except while bytes are unsent: the library cannot resume a socket that has unsent bytes
   * (docs/decisions/0111).
   */
  #pause(): void {
    const socket = this.#socket;
    if (this.#isPaused || socket === undefined || socket.getBufferedAmount() > 0) return;
    this.#isPaused = true;
    this.#reading?.pause.call(socket);
  }

  /** Resumes reading. A socket with unsent bytes is read again by itself. */
  #resume(): void {
    this.#isPaused = false;
    const socket = this.#socket;
    if (socket?.getBufferedAmount() === 0) this.#reading?.resume.call(socket);
  }

  #take(bytes: Uint8Array, isBinary: boolean, startedMs: number): void {
    this.#handle(bytes, isBinary);
    const nowMs = this.#clock.monotonicMs();
    this.#line.used(startedMs, nowMs);
    if (!this.#budget.handled(startedMs, nowMs)) this.close(1008, TOO_MUCH_WORK);
  }

  #handle(bytes: Uint8Array, isBinary: boolean): void {
    const handler = this.#handler;
    // The same as `#guard`, without a closure for each frame.
    try {
      if (handler.frame !== undefined) this.#watch(handler.frame(bytes, isBinary));
      else this.#watch(handler.message(isBinary ? bytes : Buffer.from(bytes).toString('utf8')));
    } catch (err) {
      this.#failed(err);
    }
  }

  drained(): void {
    this.#guard(() => this.#handler.drained?.());
  }

  /** Notes that the socket is gone, or never opened. */
  closed(code: number, reason: string): void {
    this.#socket = undefined;
    if (this.#isOver) return;
    // Messages that a client sent before it left are handled before its leaving.
    if (this.#waiting > 0 && !this.#isEnded) {
      this.#left = { code, reason };
      return;
    }
    this.#isOver = true;
    this.#line.leave(this);
    this.#seat.release();
    try {
      this.#handler.closed(code, reason);
    } catch (err) {
      this.#log.error({ err }, 'a socket handler failed in closed()');
    }
  }

  send(
    data: string | Uint8Array,
    { droppable = false, asText = false }: SendOptions = {},
  ): boolean {
    const result = this.#socket?.send(data, typeof data !== 'string' && !asText);
    if (result === undefined) return false;
    if (result !== DROPPED) return true;
    if (!droppable) this.close(1013, 'the client reads too slowly');
    return false;
  }

  batch(work: () => void): void {
    if (this.#socket === undefined) work();
    else this.#socket.cork(work);
  }

  close(code: number, reason = ''): void {
    this.#isEnded = true;
    // The library sees the client's close frame only while it reads.
    this.#flow();
    this.#socket?.end(code, cutReason(reason));
  }

  #live(): LiveSocket {
    const handler = this.#handler;
    return {
      close: (code, reason) => this.close(code, reason),
      drain: () => {
        if (handler.draining === undefined) this.close(DRAINING.code, DRAINING.reason);
        else this.#guard(() => handler.draining?.());
      },
    };
  }

  /** Runs code of the handler. A throw or a rejection is a bug: this socket closes with 1011. */
  #guard(work: () => unknown): void {
    try {
      this.#watch(work());
    } catch (err) {
      this.#failed(err);
    }
  }

  #watch(result: unknown): void {
    if (result instanceof Promise) result.catch((err: unknown) => this.#failed(err));
  }

  #failed(err: unknown): void {
    this.#log.error({ err }, 'a socket handler failed');
    this.close(1011, 'internal error');
  }
}

const MIB = 1024 * 1024;
const { bytes: BYTES, busyMs: BUSY_MS } = HTTP_LIMITS.socket.rates;
const TOO_MANY_BYTES = `more than ${BYTES.burst / MIB} MiB at once and ${BYTES.perSecond / MIB} MiB a second`;
const TOO_MUCH_WORK = `messages take the server more than ${BUSY_MS.perSecond} ms a second to handle`;

/** Cuts the text of a close frame to `closeReasonBytes`, at the end of a character. */
function cutReason(reason: string): string {
  const bytes = Buffer.from(reason);
  if (bytes.length <= HTTP_LIMITS.socket.closeReasonBytes) return reason;
  let end: number = HTTP_LIMITS.socket.closeReasonBytes;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end).toString('utf8');
}
