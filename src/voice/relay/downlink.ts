import type { Clock, TimerHandle } from '../../kernel/clock.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { UpstreamSocket } from '../../models/providers/realtime/realtime-rail.ts';

/** What a relay needs of its client's socket; `SocketConnection` is one. */
export interface RelayClient {
  readonly isOpen: boolean;
  readonly bufferedAmount: number;
  send(data: string | Uint8Array, options?: { readonly asText?: boolean }): boolean;
  batch(work: () => void): void;
  close(code: number, reason?: string): void;
}

export type Frame = { readonly bytes: Buffer; readonly isBinary: boolean };

/**
 * The way from an upstream to its client: frames in order, as they came. The upstream is read no faster than its client
 * takes them, and no further while something is kept back; what comes meanwhile is bounded.
 */
export class Downlink<F extends Frame = Frame> {
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
    /** Looks at a frame whose turn it is, and sends it. */
    readonly take: (frame: F) => void;
    /** What has waited may all have been looked at. */
    readonly wentOn: () => void;
    /** The client was behind for too long. */
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

  /** Frames have come that were not looked at. */
  get hasWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** False: more has come than may wait. */
  push(frame: F): boolean {
    if (!this.#isKept) {
      this.#take(frame);
      return true;
    }
    this.#waiting.push(frame);
    this.#waitingBytes += frame.bytes.length;
    return this.#waitingBytes <= LIMITS.relayFrameBytes + LIMITS.relayWaitingBytes;
  }

  /** Sends a frame as it is. */
  send({ bytes, isBinary }: Frame): void {
    const client = this.#client;
    if (client === undefined || !client.isOpen) return;
    client.send(bytes, { asText: !isBinary });
    if (!this.#isBehind && client.bufferedAmount > LIMITS.relayUnsentBytes) {
      this.#isBehind = true;
      this.#flow();
    }
  }

  /** What comes from here on waits. */
  hold(): void {
    this.#isHeld = true;
    this.#flow();
  }

  /** What has waited goes on, until something is held again. */
  release(): void {
    this.#isHeld = false;
    this.#goOn();
  }

  /** The client has caught up, or is gone. */
  caughtUp(): void {
    if (!this.#isBehind) return;
    this.#isBehind = (this.#client?.bufferedAmount ?? 0) > LIMITS.relayUnsentBytes;
    this.#goOn();
  }

  /** The client reads no more. The upstream is still read to its end, for its usage. */
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

  /** A client that is behind has so long to catch up. */
  #watchStall(): void {
    if (this.#isBehind) {
      this.#stall ??= this.#clock.setTimeout(this.#stalled, LIMITS.relayStallMs);
    } else if (this.#stall !== undefined) {
      this.#clock.clearTimeout(this.#stall);
      this.#stall = undefined;
    }
  }
}
