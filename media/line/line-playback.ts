/**
 * Tracks how much of the sent audio the caller on a telephone line has heard. The carrier plays audio in real time and echoes a
 * mark once everything before the mark was played. A clear empties the carrier's buffer and echoes the pending marks at once,
 * so each clear begins a new generation of marks. Times are milliseconds of a monotonic clock, passed with each call.
 */

import { bytesPerMs, bytesPerSample, type SoundFormat } from '../coding.ts';
import { KeptSound } from './kept-sound.ts';

type Piece = {
  readonly itemId: string;
  /** Begin and end in milliseconds of the sound since the last clear. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Milliseconds of the item's own sound before `fromMs`. */
  readonly itemFromMs: number;
  /** Range of the piece's bytes in the kept sound. */
  readonly fromByte: number;
  readonly toByte: number;
};

/** Milliseconds of an item's sound that the caller has heard. */
export type HeardItem = { readonly itemId: string; readonly heardMs: number };

/** Sound that was sent to the carrier but not heard by the caller. */
export type UnheardSound = { readonly itemId: string; readonly bytes: Uint8Array };

/** Number of marks of one line that may wait for their echo. */
const MOST_MARKS = 64;

/** Milliseconds after which a mark without an echo is given up. */
const MARK_PATIENCE_MS = 1_000;

/** Number of pieces whose hearing is known by the echo of a mark. Beyond that number the clock decides. */
const MOST_PIECES = 64;

/** Milliseconds of delay that do not count as a gap: they are not audible, and timers are no more exact. */
const TOLERANCE_MS = 5;

const heardWhole = ({ fromMs, itemFromMs, itemId, toMs }: Piece): HeardItem => ({
  itemId,
  heardMs: itemFromMs + toMs - fromMs,
});

export class LinePlayback {
  readonly #bytesPerSample: number;
  readonly #bytesPerMs: number;
  readonly #markMs: number;
  #pieces: Piece[] = [];
  readonly #sound = new KeptSound();
  #generation = 0;
  #sentMs = 0;
  #markedMs = 0;
  #marks = 0;
  /** Positions of the marks that wait for their echo, by their number. */
  #pending = new Map<number, number>();
  /** The last known position of the playhead, and the time of that position. */
  #knownMs = 0;
  #knownAtMs = 0;
  /** Time at which the line runs out of sound, by the clock alone. */
  #dryAtMs = Number.NEGATIVE_INFINITY;
  /** Item that was playing at the last clear, with its heard part. */
  #cleared: HeardItem | undefined;
  readonly #dry = { underruns: 0, ms: 0 };

  constructor(options: { readonly format: SoundFormat; readonly markMs: number }) {
    this.#bytesPerSample = bytesPerSample(options.format.encoding);
    this.#bytesPerMs = bytesPerMs(options.format);
    this.#markMs = options.markMs;
  }

  /** Number and total milliseconds of the silences in the middle of an item whose next sound had not come yet. */
  get dry(): { readonly underruns: number; readonly ms: number } {
    return this.#dry;
  }

  /**
   * Records and copies audio that is sent now. Returns the name of the mark to send after it; undefined when no mark is due.
   */
  sent(itemId: string, bytes: Uint8Array, nowMs: number): string | undefined {
    const ms = bytes.length / this.#bytesPerMs;
    const last = this.#pieces.at(-1);
    if (nowMs > this.#dryAtMs) {
      if (last?.itemId === itemId) this.#ranDry(nowMs - this.#dryAtMs);
      // The line was silent, so that the new sound is heard from now on.
      this.#knownMs = this.#sentMs;
      this.#knownAtMs = nowMs;
      this.#dryAtMs = nowMs;
    }
    const before = last === undefined ? this.#cleared : heardWhole(last);
    const itemFromMs = before?.itemId === itemId ? before.heardMs : 0;
    const toMs = this.#sentMs + ms;
    const fromByte = last?.toByte ?? 0;
    const toByte = fromByte + bytes.length;
    this.#pieces.push({ itemId, fromMs: this.#sentMs, toMs, itemFromMs, fromByte, toByte });
    this.#sound.push(bytes);
    this.#sentMs = toMs;
    // A carrier that echoes no marks would let the pieces grow without bound.
    if (this.#pieces.length > MOST_PIECES) {
      this.#forget(this.#playheadMs(nowMs) - MARK_PATIENCE_MS);
    }
    this.#dryAtMs += ms;
    return this.#sentMs - this.#markedMs >= this.#markMs ? this.mark() : undefined;
  }

  /** Returns the name of a new mark after everything that was sent. */
  mark(): string {
    this.#markedMs = this.#sentMs;
    const number = ++this.#marks;
    if (this.#pending.size < MOST_MARKS) this.#pending.set(number, this.#sentMs);
    return `${this.#generation}.${number}`;
  }

  /** Handles the carrier's echo of a mark. Returns true when the mark belongs to this generation and was waited for. */
  echoed(name: string, nowMs: number): boolean {
    const [generation, number] = name.split('.').map(Number);
    if (generation !== this.#generation || number === undefined) return false;
    const atMs = this.#pending.get(number);
    if (atMs === undefined) return false;
    for (const pending of this.#pending.keys()) {
      if (pending <= number) this.#pending.delete(pending);
    }
    this.#knownMs = Math.max(this.#knownMs, atMs);
    this.#knownAtMs = nowMs;
    this.#forget(atMs);
    return true;
  }

  /** Returns the milliseconds of audio that the peer has not played yet, by clock and marks. */
  unheardMs(nowMs: number): number {
    return this.#sentMs - this.#playheadMs(nowMs);
  }

  /** Returns the heard part of the item that plays now, or played last. */
  heard(nowMs: number): HeardItem | undefined {
    const playheadMs = this.#playheadMs(nowMs);
    const piece = this.#pieces.find(({ toMs }) => toMs >= playheadMs) ?? this.#pieces.at(-1);
    if (piece === undefined) return undefined;
    const within = Math.min(Math.max(0, playheadMs - piece.fromMs), piece.toMs - piece.fromMs);
    return { itemId: piece.itemId, heardMs: piece.itemFromMs + within };
  }

  /** Records that the peer's buffer is cleared now. Returns the audio that was not heard, in order. */
  clear(nowMs: number): UnheardSound[] {
    const playheadMs = this.#playheadMs(nowMs);
    this.#cleared = this.heard(nowMs);
    const unheard: UnheardSound[] = [];
    for (const { fromByte, fromMs, itemId, toByte, toMs } of this.#pieces) {
      if (toMs <= playheadMs) continue;
      const heardSamples = ((playheadMs - fromMs) * this.#bytesPerMs) / this.#bytesPerSample;
      const skipped = Math.max(0, Math.ceil(heardSamples)) * this.#bytesPerSample;
      unheard.push({ itemId, bytes: this.#sound.copy(fromByte + skipped, toByte) });
    }
    this.#generation++;
    this.#pieces = [];
    this.#sound.clear();
    this.#pending.clear();
    this.#sentMs = 0;
    this.#markedMs = 0;
    this.#knownMs = 0;
    this.#knownAtMs = nowMs;
    this.#dryAtMs = Number.NEGATIVE_INFINITY;
    return unheard;
  }

  /** Returns the playhead's position by the clock. It does not pass a pending mark, unless the carrier echoes no marks. */
  #playheadMs(nowMs: number): number {
    const byClockMs = this.#knownMs + Math.max(0, nowMs - this.#knownAtMs);
    const [nextMarkMs = this.#sentMs] = this.#pending.values();
    const isOverdue = byClockMs > nextMarkMs + MARK_PATIENCE_MS;
    return Math.min(byClockMs, isOverdue ? this.#sentMs : nextMarkMs, this.#sentMs);
  }

  #ranDry(ms: number): void {
    if (ms <= TOLERANCE_MS) return;
    this.#dry.underruns++;
    this.#dry.ms += ms;
  }

  /** Forgets pieces that ended before `beforeMs`, except the last of those pieces, which shows what was heard last. */
  #forget(beforeMs: number): void {
    const gone = this.#pieces.findIndex(({ toMs }) => toMs > beforeMs);
    const count = gone === -1 ? this.#pieces.length - 1 : gone - 1;
    if (count <= 0) return;
    this.#pieces.splice(0, count);
    this.#sound.forget(this.#pieces[0]?.fromByte ?? 0);
  }
}
