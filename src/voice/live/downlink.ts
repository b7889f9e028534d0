import type { Clock, TimerHandle } from '../../kernel/clock.ts';
import type { UpstreamSocket } from '../../models/providers/realtime/realtime-rail.ts';
import { VOICE_LIMITS } from '../limits.ts';

/** Client socket of a relay; `SocketConnection` implements it. */
export interface RelayClient {
  readonly isOpen: boolean;
  readonly bufferedAmount: number;
  send(data: string | Uint8Array, options?: { readonly asText?: boolean }): boolean;
  batch(work: () => void): void;
  close(code: number, reason?: string): void;
}

export type SocketFrame = { readonly bytes: Buffer; readonly isBinary: boolean };

/**
 * Forwards frames from an upstream to its client, in order. Pauses the upstream while the client is behind or frames are held;
 * the frames that arrive meanwhile are bounded.
 */
export class Downlink<F extends SocketFrame = SocketFrame> {
  readonly #clock: Clock;
  readonly #stalled: () => void;
  readonly #upstream: Pick<UpstreamSocket, 'pause' | 'resume'>;
  readonly #take: (frame: F) => void;
  readonly #wentOn: () => void;
  readonly #waiting: F[] = [];
  #waitingBytes = 0;
  #client: RelayClient | undefined;
  #isHeld = false;
  #isBehind = false;
  #stall: TimerHandle | undefined;

  constructor(deps: {
    readonly clock: Clock;
    readonly upstream: Pick<UpstreamSocket, 'pause' | 'resume'>;
    /** Processes the next frame and sends it. */
    readonly take: (frame: F) => void;
    /** Called when waiting frames were handled, maybe all of them. */
    readonly wentOn: () => void;
    /** Called when the client was behind for `VOICE_LIMITS.relay.stallMs`. */
    readonly stalled: () => void;
  }) {
    this.#clock = deps.clock;
    this.#stalled = deps.stalled;
    this.#upstream = deps.upstream;
    this.#take = deps.take;
    this.#wentOn = deps.wentOn;
  }

  attach(client: RelayClient): void {
    this.#client = client;
  }

  /** True when frames wait to be handled. */
  get hasWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Processes or queues a frame. Returns false when the queue exceeds its bound. */
  push(frame: F): boolean {
    if (!this.#isKept) {
      this.#take(frame);
      return true;
    }
    this.#waiting.push(frame);
    this.#waitingBytes += frame.bytes.length;
    return this.#waitingBytes <= VOICE_LIMITS.relay.frameBytes + VOICE_LIMITS.relay.waitingBytes;
  }

  /** Sends a frame to the client, unchanged. */
  send({ bytes, isBinary }: SocketFrame): void {
    const client = this.#client;
    if (client === undefined || !client.isOpen) return;
    client.send(bytes, { asText: !isBinary });
    if (!this.#isBehind && client.bufferedAmount > VOICE_LIMITS.relay.unsentBytes) {
      this.#isBehind = true;
      this.#flow();
    }
  }

  /** Queues later frames until `release`. */
  hold(): void {
    this.#isHeld = true;
    this.#flow();
  }

  /** Processes the queued frames, until `hold` is called again. */
  release(): void {
    this.#isHeld = false;
    this.#goOn();
  }

  /** Resumes the upstream when the client's send buffer has room or the client is gone. */
  caughtUp(): void {
    if (!this.#isBehind) return;
    this.#isBehind = (this.#client?.bufferedAmount ?? 0) > VOICE_LIMITS.relay.unsentBytes;
    this.#goOn();
  }

  /** Stops sending to the client. The upstream is still read to its end, for its usage. */
  abandon(): void {
    this.#client = undefined;
    this.#isBehind = false;
    this.#goOn();
  }

  get #isKept(): boolean {
    return this.#isHeld || this.#isBehind;
  }

  #goOn(): void {
    while (!this.#isKept) {
      const frame = this.#waiting.shift();
      if (frame === undefined) break;
      this.#waitingBytes -= frame.bytes.length;
      this.#take(frame);
    }
    this.#flow();
    this.#wentOn();
  }

  #flow(): void {
    this.#watchStall();
    if (this.#isKept) this.#upstream.pause();
    else this.#upstream.resume();
  }

  /** Calls `stalled` when the client stays behind for `VOICE_LIMITS.relay.stallMs`. */
  #watchStall(): void {
    if (this.#isBehind) {
      this.#stall ??= this.#clock.setTimeout(this.#stalled, VOICE_LIMITS.relay.stallMs);
    } else if (this.#stall !== undefined) {
      this.#clock.clearTimeout(this.#stall);
      this.#stall = undefined;
    }
  }
}
