import { bytesPerMs, type SoundFormat } from '../../../../media/coding.ts';
import { LinePlayback, type UnheardSound } from '../../../../media/line/line-playback.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { StopSignal } from '../../../kernel/stop-signal.ts';
import type { Played } from '../../../voice/session/voice-client.ts';
import type { MediaCodec } from '../../carriers/carrier.ts';
import { PHONE_LIMITS } from '../../limits.ts';
import { LineWaits } from './line-waits.ts';
import { MarkWaits } from './mark-waits.ts';

/** The connection of a carrier's media stream. */
export type LineConnection = {
  send(data: string): boolean;
  batch(work: () => void): void;
  close(code: number, reason?: string): void;
};

/** Reason to hold back the end: the peer is speaking, or digits are to be sent, for which the carrier may close the stream. */
type EndHold = 'speech' | 'digits';

/** Milliseconds until the next look for a mark that is overdue. */
const MARK_WAIT_MS = 20;

/** Sound that was stopped and that the peer has not heard. It is played later when the interruption is taken back. */
type Stopped = {
  readonly unheard: UnheardSound[];
  readonly heard: Played | undefined;
  unheardMs: number;
};

/**
 * Plays sound to the peer of a call. Sound is sent up to `PHONE_LIMITS.media.aheadMs` ahead of its time, and marks report the part
 * that was heard. An interruption may be taken back: paused sound goes on from where it was heard.
 */
export class CallLine {
  readonly #clock: Clock;
  #codec: MediaCodec;
  readonly #playback: LinePlayback;
  readonly #bytesPerMs: number;
  #connection: LineConnection | undefined;
  /** Sound that a pause has stopped. Undefined while the line plays. */
  #paused: Stopped | undefined;
  /** Sound that the last stream had not played. Undefined when no sound was lost. */
  #lost: Stopped | undefined;
  /** State of a sound that is no part of an answer. `sent`: all of it was sent, and the peer may still be hearing it. */
  #sounding: 'sending' | 'sent' | 'none' = 'none';
  readonly #waits: LineWaits;
  readonly #marks: MarkWaits;
  /** Reasons to hold back the callbacks that wait for the end of the sound. Empty: they may run. */
  readonly #endHeldBy = new Set<EndHold>();
  /** Monotonic time at which the first sound of the present answer was sent. */
  firstSoundAtMs: number | undefined;

  constructor(options: {
    readonly clock: Clock;
    readonly codec: MediaCodec;
    readonly format: SoundFormat;
  }) {
    this.#clock = options.clock;
    this.#waits = new LineWaits(options.clock);
    this.#marks = new MarkWaits(options.clock);
    this.#codec = options.codec;
    this.#bytesPerMs = bytesPerMs(options.format);
    const { markMs } = PHONE_LIMITS.media;
    this.#playback = new LinePlayback({ format: options.format, markMs });
  }

  /**
   * Attaches a media stream with the codec of its messages, for the first time or again. Sound that an earlier stream had not
   * played is lost.
   */
  attach(connection: LineConnection, codec: MediaCodec): void {
    const replaced = this.#connection;
    if (replaced !== undefined) this.detach();
    this.#codec = codec;
    this.#lost = undefined;
    this.#connection = connection;
    // The new stream is set first, because `close` calls the handler of the old stream at once, which looks at it.
    replaced?.close(1000, 'replaced');
    this.#waits.wake();
  }

  /** Returns true when another stream has replaced this one on the line. */
  hasReplaced(connection: LineConnection): boolean {
    return this.#connection !== undefined && this.#connection !== connection;
  }

  /** Detaches the stream, which may come back. */
  detach(): void {
    if (this.#connection === undefined) return;
    this.#connection = undefined;
    this.#lost = this.#paused ?? this.#stop();
    this.#marks.cleared();
    if (!this.#endHeldBy.has('digits')) this.#marks.cutShort();
  }

  get isAttached(): boolean {
    return this.#connection !== undefined;
  }

  batch(work: () => void): void {
    if (this.#connection === undefined) work();
    else this.#connection.batch(work);
  }

  get hasRoom(): boolean {
    return !this.#isBlocked('answer') && this.#overMs <= 0;
  }

  /**
   * Resolves when sound may be sent. A sender that is `aheadMs` ahead waits until at least `refillMs` of sound can be sent at
   * once.
   */
  async room(signal: StopSignal, wantedBy: 'answer' | 'sound' = 'answer'): Promise<void> {
    const { aheadMs, refillMs } = PHONE_LIMITS.media;
    for (;;) {
      const isBlocked = this.#isBlocked(wantedBy);
      const overMs = this.#overMs;
      if (signal.aborted || (overMs <= 0 && !isBlocked)) return;
      await this.#waits.sleep(isBlocked ? aheadMs : overMs + refillMs, signal);
    }
  }

  #isBlocked(wantedBy: 'answer' | 'sound'): boolean {
    const waitsForSound = this.#sounding === 'sending' && wantedBy === 'answer';
    return this.#paused !== undefined || this.#connection === undefined || waitsForSound;
  }

  get #overMs(): number {
    return this.#aheadMs() - PHONE_LIMITS.media.aheadMs;
  }

  /** Notes that a sound that is no part of an answer begins. Answers wait for `endSound`. */
  beginSound(): void {
    this.#sounding = 'sending';
  }

  endSound(): void {
    this.#sounding = 'sent';
    this.#waits.wake();
  }

  /** True while sound that is no answer is played or waits. */
  get isSounding(): boolean {
    return this.#sounding === 'sending' || (this.#sounding === 'sent' && this.isPlaying);
  }

  /** Resolves once the peer has heard everything, after `withinMs`, or when `signal` fires or the stream is gone. */
  async played(withinMs: number, signal: StopSignal): Promise<void> {
    const untilMs = this.#clock.monotonicMs() + withinMs;
    for (;;) {
      const leftMs = untilMs - this.#clock.monotonicMs();
      const isOver = !this.isPlaying || this.#connection === undefined || leftMs <= 0;
      if (signal.aborted || isOver) return;
      await this.#waits.sleep(Math.min(leftMs, Math.max(MARK_WAIT_MS, this.#aheadMs())), signal);
    }
  }

  /** Number and length of the silences of the line in the middle of answers. */
  get dry(): LinePlayback['dry'] {
    return this.#playback.dry;
  }

  /** True while the peer has sound left to hear. */
  get isPlaying(): boolean {
    return this.#aheadMs() > 0;
  }

  /** Milliseconds of sound that the peer has still to hear. */
  get leftMs(): number {
    return this.#aheadMs();
  }

  /** True while a callback waits until the peer has heard everything. */
  get isEndAwaited(): boolean {
    return this.#marks.isWaiting;
  }

  /** The heard part of the item that the peer hears now, or heard last. Undefined when nothing was played. */
  get heard(): Played | undefined {
    const nowMs = this.#clock.monotonicMs();
    return this.#paused === undefined ? this.#playback.heard(nowMs) : this.#paused.heard;
  }

  /** Stops the sound at once, and keeps the part that the peer has not heard. */
  pause(): void {
    this.#paused ??= this.#stop();
  }

  /** Plays the kept part of a paused sound, and lets senders continue. */
  resume(): void {
    const paused = this.#paused;
    if (paused === undefined) return;
    this.#paused = undefined;
    this.batch(() => {
      for (const { itemId, bytes } of paused.unheard) this.play(itemId, bytes);
    });
    this.#waits.wake();
  }

  /**
   * Makes an interruption final and drops the unheard sound. Returns the heard part of each cut item, in order, including
   * `openItemId`, an item whose sound was not complete.
   */
  clearPlayback(openItemId?: string): Played[] {
    this.pause();
    const { heard, unheard = [] } = this.#lost ?? this.#paused ?? {};
    this.#lost = undefined;
    this.#paused = undefined;
    this.#waits.wake();
    this.#marks.cutShort();
    const cut = new Set(unheard.map(({ itemId }) => itemId));
    if (openItemId !== undefined) cut.add(openItemId);
    return Array.from(cut, (itemId) => (heard?.itemId === itemId ? heard : { itemId, heardMs: 0 }));
  }

  /**
   * Runs `done` once the peer has heard everything, or after `withinMs`; later while the end is held. A later call replaces an
   * earlier call.
   */
  afterPlayed(done: () => void, withinMs: number): void {
    this.forgetAfterPlayed();
    const isOver = !this.isPlaying || this.#connection === undefined;
    if (isOver && !this.#endHeldBy.has('digits')) {
      done();
      return;
    }
    this.#marks.atLatest(done, withinMs);
    if (this.#endHeldBy.size === 0) this.#markEnd();
  }

  /** Holds the callback of `afterPlayed` back until `releaseEnd`. */
  holdEnd(by: EndHold): void {
    this.#endHeldBy.add(by);
    this.#marks.disarm();
  }

  /** Lets the callback of `afterPlayed` wait for all sound that was sent by now, unless another reason holds the end. */
  releaseEnd(by: EndHold): void {
    if (!this.#endHeldBy.delete(by) || this.#endHeldBy.size > 0) return;
    if (this.#connection === undefined) this.#marks.cutShort();
    else this.#markEnd();
  }

  /** Runs `done` once the carrier reports that all sound by now was played; never if it is cleared or the stream breaks. */
  whenHeard(done: () => void): void {
    if (this.#connection === undefined || this.#paused !== undefined) return;
    const mark = this.#playback.mark();
    this.#marks.onlyAt(mark, done);
    this.#connection.send(this.#codec.mark(mark));
  }

  /** Drops the callback that waits for the end of the sound. */
  forgetAfterPlayed(): void {
    this.#marks.forget();
  }

  /** Handles the carrier's echo of a mark. */
  echoed(name: string): void {
    this.#marks.echoed(name, this.#playback.echoed(name, this.#clock.monotonicMs()));
  }

  /** Sends sound of an item to the peer; a paused line keeps it for later. The array may be reused afterwards. */
  play(itemId: string, bytes: Uint8Array): void {
    const nowMs = this.#clock.monotonicMs();
    if (this.#paused !== undefined) {
      this.#paused.unheard.push({ itemId, bytes: bytes.slice() });
      this.#paused.unheardMs += bytes.length / this.#bytesPerMs;
      return;
    }
    if (this.#connection === undefined) return;
    this.firstSoundAtMs ??= nowMs;
    const media = this.#codec.media(bytes);
    const mark = this.#playback.sent(itemId, bytes, nowMs);
    if (mark === undefined) {
      this.#connection.send(media);
      return;
    }
    // The sound and its mark leave in one write.
    this.#connection.batch(() => {
      this.#connection?.send(media);
      this.#connection?.send(this.#codec.mark(mark));
    });
  }

  /** Closes the media stream. The carrier then requests an instruction for the call, or ends it. */
  close(code: number, reason: string): void {
    this.forgetAfterPlayed();
    const connection = this.#connection;
    this.detach();
    connection?.close(code, reason);
    this.#waits.wake();
  }

  #markEnd(): void {
    if (!this.#marks.isWaiting) return;
    const mark = this.#playback.mark();
    // The wait is set before the mark is sent, because a peer that has played everything echoes the mark at once.
    this.#marks.arm(mark);
    this.#connection?.send(this.#codec.mark(mark));
  }

  #stop(): Stopped {
    const nowMs = this.#clock.monotonicMs();
    const heard = this.#playback.heard(nowMs);
    this.#marks.cleared();
    const unheard = this.#playback.clear(nowMs);
    if (unheard.length > 0) this.#connection?.send(this.#codec.clear());
    const bytes = unheard.reduce((sum, piece) => sum + piece.bytes.length, 0);
    return { unheard, heard, unheardMs: bytes / this.#bytesPerMs };
  }

  #aheadMs(): number {
    return this.#paused?.unheardMs ?? this.#playback.unheardMs(this.#clock.monotonicMs());
  }
}
