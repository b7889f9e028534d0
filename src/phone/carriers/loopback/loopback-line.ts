import type { Clock, TimerHandle } from '../../../kernel/clock.ts';
import { type LoopbackMessage, readLoopback } from './loopback-codec.ts';

/** Bytes of 20 ms of G.711 at 8 kHz. */
export const FRAME_BYTES = 160;
const FRAME_MS = 20;
const SILENCE = 0xff;

/** The simulated person on the other end of a call. Sound is mu-law, in frames of 20 ms. */
export interface Callee {
  /** Returns the next frame that the person says. Undefined: silence. Called every 20 ms. */
  say(): Uint8Array | undefined;
  /** Takes a frame that the person hears. Undefined: silence. Called every 20 ms. */
  hear(frame: Uint8Array | undefined): void;
  /** Takes the keypad digits that the agent sends. */
  digits?(digits: string): void;
  /** True once the person hangs up. */
  readonly isGone: boolean;
}

type Played = { readonly bytes: Uint8Array; offset: number } | { readonly mark: string };

/**
 * The media of one call as a carrier has it: plays received sound in real time, echoes marks once they are reached, and sends
 * the callee's sound. It catches up when its timer is late.
 */
export class LoopbackLine {
  readonly #clock: Clock;
  readonly #callee: Callee;
  readonly #send: (message: LoopbackMessage) => void;
  readonly #hungUp: () => void;
  readonly #tap: ((said: Uint8Array, heard: Uint8Array | undefined) => void) | undefined;
  #buffer: Played[] = [];
  #timer: TimerHandle | undefined;
  #startedMs: number;
  #frames = 0;
  #isOpen = true;

  constructor(options: {
    readonly clock: Clock;
    readonly callee: Callee;
    /** Sends a message to the server. */
    readonly send: (message: LoopbackMessage) => void;
    /** Called when the person hangs up. */
    readonly hungUp: () => void;
    /** Records 20 ms of both sides. It must not keep the arrays. */
    readonly tap?: (said: Uint8Array, heard: Uint8Array | undefined) => void;
  }) {
    this.#clock = options.clock;
    this.#callee = options.callee;
    this.#send = options.send;
    this.#hungUp = options.hungUp;
    this.#tap = options.tap;
    this.#startedMs = options.clock.monotonicMs();
    this.#arm();
  }

  /** Handles a message of the server: sound, a mark or a clear. */
  receive(text: string): void {
    if (!this.#isOpen) return;
    const message = readLoopback(text);
    if ('media' in message) {
      this.#buffer.push({ bytes: Buffer.from(message.media, 'base64'), offset: 0 });
    } else if ('mark' in message) {
      this.#buffer.push({ mark: message.mark });
      this.#echo();
    } else if ('clear' in message) {
      const marks = this.#buffer.filter((entry) => 'mark' in entry);
      this.#buffer = [];
      for (const { mark } of marks) this.#send({ mark });
    }
  }

  close(): void {
    this.#isOpen = false;
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer);
  }

  #arm(): void {
    if (!this.#isOpen) return;
    const dueMs = this.#startedMs + (this.#frames + 1) * FRAME_MS;
    const waitMs = Math.max(0, dueMs - this.#clock.monotonicMs());
    this.#timer = this.#clock.setTimeout(() => {
      this.#step();
      this.#arm();
    }, waitMs);
  }

  #step(): void {
    const atMs = this.#frames * FRAME_MS;
    this.#frames++;
    const heard = this.#next();
    this.#callee.hear(heard);
    this.#echo();
    const said = this.#callee.say() ?? new Uint8Array(FRAME_BYTES).fill(SILENCE);
    this.#tap?.(said, heard);
    this.#send({ media: Buffer.from(said).toString('base64'), atMs });
    if (this.#callee.isGone) {
      this.close();
      this.#hungUp();
    }
  }

  /** Returns the next 20 ms of the server's sound. Undefined when the buffer is empty. */
  #next(): Uint8Array | undefined {
    let frame: Uint8Array | undefined;
    for (let filled = 0; filled < FRAME_BYTES; ) {
      const entry = this.#buffer[0];
      if (entry === undefined) break;
      if ('mark' in entry) {
        this.#send({ mark: entry.mark });
        this.#buffer.shift();
        continue;
      }
      frame ??= new Uint8Array(FRAME_BYTES).fill(SILENCE);
      const piece = entry.bytes.subarray(entry.offset, entry.offset + FRAME_BYTES - filled);
      frame.set(piece, filled);
      filled += piece.length;
      entry.offset += piece.length;
      if (entry.offset === entry.bytes.length) this.#buffer.shift();
    }
    return frame;
  }

  /** Echoes the marks at the head of the buffer: all sound before them has been played. */
  #echo(): void {
    for (let entry = this.#buffer[0]; entry !== undefined && 'mark' in entry; ) {
      this.#send({ mark: entry.mark });
      this.#buffer.shift();
      entry = this.#buffer[0];
    }
  }
}
