/**
 * Sends audio at the speed at which it is heard. The receiver buffers all audio, and audio sent early cannot be taken back, so
 * the pacer stays at most `leadMs` ahead. It has no timer and no clock of its own: every call passes the time, in milliseconds
 * of a monotonic clock.
 */

export type Interruption = {
  /** Milliseconds of this reply that the caller has heard by now. */
  readonly playedMs: number;
  readonly sentMs: number;
  /** Milliseconds of sound that waited in the pacer and will never be sent. */
  readonly droppedMs: number;
};

/** Number of chunks that may wait. Further chunks, however small, are refused. */
const MAX_CHUNKS = 256;

/** Paces one stream of audio in a coding of constant size (G.711 or PCM), for one listener. */
export class Pacer {
  readonly frameBytes: number;
  readonly #frameMs: number;
  readonly #leadMs: number;
  readonly #capacityBytes: number;
  readonly #silence: number;
  readonly #chunks: Uint8Array[] = [];
  /** Read position in the first chunk. */
  #offset = 0;
  #queuedBytes = 0;
  #ended = false;
  #sentMs = 0;
  /** Time at which the listener will have heard everything that was sent. */
  #heardUntilMs = Number.NEGATIVE_INFINITY;
  #underruns = 0;
  #refused = 0;

  constructor(options: {
    readonly frameBytes: number;
    readonly frameMs: number;
    readonly leadMs: number;
    readonly capacityMs: number;
    /** Byte that fills up the last, partial frame. */
    readonly silence: number;
  }) {
    if (options.leadMs < options.frameMs) {
      throw new RangeError('Pacer: the lead is at least one frame');
    }
    this.frameBytes = options.frameBytes;
    this.#frameMs = options.frameMs;
    this.#leadMs = options.leadMs;
    this.#capacityBytes = (options.capacityMs / options.frameMs) * options.frameBytes;
    this.#silence = options.silence;
  }

  /** Number of times that playback ran out of sound before the reply was complete. */
  get underruns(): number {
    return this.#underruns;
  }

  get refusedChunks(): number {
    return this.#refused;
  }

  get queuedMs(): number {
    return (this.#queuedBytes / this.frameBytes) * this.#frameMs;
  }

  /** Milliseconds of this reply that were sent. */
  get sentMs(): number {
    return this.#sentMs;
  }

  /**
   * Takes a chunk of sound and from then on owns its array. Returns false and takes nothing when the pacer is full; the
   * producer then waits until `queuedMs` has fallen.
   */
  push(chunk: Uint8Array): boolean {
    const full =
      this.#chunks.length >= MAX_CHUNKS || this.#queuedBytes + chunk.length > this.#capacityBytes;
    if (full) {
      this.#refused++;
      return false;
    }
    this.#ended = false;
    if (chunk.length === 0) return true;
    this.#chunks.push(chunk);
    this.#queuedBytes += chunk.length;
    return true;
  }

  /** Marks the reply as complete: its last, partial frame may be sent, and silence after it is no underrun. */
  end(): void {
    this.#ended = true;
  }

  /** Returns the milliseconds until `pull` has a frame; undefined when more sound must be pushed first. */
  dueInMs(nowMs: number): number | undefined {
    if (!this.#hasFrame()) return undefined;
    return Math.max(0, this.#heardUntilMs + this.#frameMs - this.#leadMs - nowMs);
  }

  /** Writes the next frame into the front of `target` when it is due. Returns false when none is due; call it until then. */
  pull(nowMs: number, target: Uint8Array): boolean {
    if (target.length < this.frameBytes) throw new RangeError('Pacer: target is too short');
    if (!this.#hasFrame()) return false;
    if (this.#heardUntilMs + this.#frameMs - this.#leadMs > nowMs) return false;
    // A late frame is still sent, so that the reply is delayed but complete.
    if (nowMs > this.#heardUntilMs) {
      if (this.#sentMs > 0) this.#underruns++;
      this.#heardUntilMs = nowMs;
    }
    this.#takeFrame(target);
    this.#heardUntilMs += this.#frameMs;
    this.#sentMs += this.#frameMs;
    return true;
  }

  /** Returns the milliseconds of this reply that the caller has heard, if received sound is played without a pause. */
  playedMs(nowMs: number): number {
    return Math.max(0, this.#sentMs - Math.max(0, this.#heardUntilMs - nowMs));
  }

  /** Returns true when the reply was ended and the listener has heard all of it. */
  finished(nowMs: number): boolean {
    return this.#ended && this.#queuedBytes === 0 && nowMs >= this.#heardUntilMs;
  }

  /**
   * Drops the reply and returns what was played, sent and dropped. The caller must also clear the receiver's buffer, so that
   * playback begins anew with the next frame.
   */
  interrupt(nowMs: number): Interruption {
    const interruption = {
      playedMs: this.playedMs(nowMs),
      sentMs: this.#sentMs,
      droppedMs: this.queuedMs,
    };
    this.#chunks.length = 0;
    this.#offset = 0;
    this.#queuedBytes = 0;
    this.#heardUntilMs = Number.NEGATIVE_INFINITY;
    this.beginReply();
    return interruption;
  }

  /** Restarts the counts of `sentMs` and `playedMs`. The listener still hears the sound that was sent before. */
  beginReply(): void {
    this.#ended = false;
    this.#sentMs = 0;
  }

  #hasFrame(): boolean {
    return this.#queuedBytes >= this.frameBytes || (this.#ended && this.#queuedBytes > 0);
  }

  #takeFrame(target: Uint8Array): void {
    let written = 0;
    while (written < this.frameBytes) {
      const chunk = this.#chunks[0];
      if (chunk === undefined) break;
      const count = Math.min(this.frameBytes - written, chunk.length - this.#offset);
      for (let i = 0; i < count; i++) target[written + i] = chunk[this.#offset + i] as number;
      written += count;
      this.#offset += count;
      if (this.#offset === chunk.length) {
        this.#chunks.shift();
        this.#offset = 0;
      }
    }
    this.#queuedBytes -= written;
    target.fill(this.#silence, written, this.frameBytes);
  }
}
