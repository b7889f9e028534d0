import { bytesPerMs, type SoundFormat, silenceOf } from '../../../../media/coding.ts';
import { InOrder, type InOrderListener } from '../../../../media/line/in-order.ts';
import { Loudness } from '../../../../media/line/loudness.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { Log } from '../../../kernel/log.ts';
import type { VoiceSession } from '../../../voice/session/voice-session.ts';
import type { BargeIn } from '../barge-in.ts';
import type { LineCleaner, NoiseSuppression } from '../noise/line-cleaner.ts';
import { NoiseWatch } from '../noise/noise-watch.ts';

/** Longest time in milliseconds from the begin of speech to its notice. */
const NOTICED_AFTER_MS = 300;
const PIECE_MS = 20;

type CallerSoundDeps = {
  readonly clock: Clock;
  readonly log: Log;
  readonly format: SoundFormat;
  readonly bargeIn: Pick<BargeIn, 'consonant' | 'isMeasuring' | 'loud' | 'vowel'>;
  readonly session: Pick<VoiceSession, 'append'>;
  /** Mode of noise suppression. Absent: noise is not removed. */
  readonly suppresses?: NoiseSuppression | undefined;
  /** Creates the noise suppression of the line. Absent or without a result: noise is not removed. */
  readonly openCleaner?: () => LineCleaner | undefined;
};

/** Takes the peer's sound in order of its audio time, and passes it to the voice session. */
export class CallerSound implements InOrderListener {
  readonly #sound: InOrder;
  #isMuted = false;
  readonly #bargeIn: CallerSoundDeps['bargeIn'];
  readonly #session: CallerSoundDeps['session'];
  #cleaner: LineCleaner | undefined;
  /** Set while the line may turn out to be noisy. */
  #noise: NoiseWatch | undefined;
  readonly #openCleaner: CallerSoundDeps['openCleaner'];
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #bytesPerMs: number;
  readonly #loudness: Loudness;
  /** The last sound that was not measured, a ring. */
  readonly #before: Uint8Array;
  #beforeAt = 0;
  #wasMeasuring = false;

  constructor(deps: CallerSoundDeps) {
    const { bargeIn, clock, format, log, openCleaner, session, suppresses = false } = deps;
    this.#bytesPerMs = bytesPerMs(format);
    const silence = silenceOf(format);
    this.#sound = new InOrder({ bytesPerMs: this.#bytesPerMs, silence, listener: this });
    this.#bargeIn = bargeIn;
    this.#session = session;
    this.#openCleaner = openCleaner;
    if (suppresses === 'auto') this.#noise = new NoiseWatch(format);
    else if (suppresses) this.#cleaner = openCleaner?.();
    this.#clock = clock;
    this.#log = log;
    this.#loudness = new Loudness(format);
    this.#before = new Uint8Array(NOTICED_AFTER_MS * this.#bytesPerMs).fill(silence);
  }

  get counters(): InOrder['counters'] {
    return this.#sound.counters;
  }

  /** True once the peer is no longer heard. */
  get isMuted(): boolean {
    return this.#isMuted;
  }

  /** True when the last seconds sounded like music. Always false when the noise of the line is not suppressed. */
  get isMusic(): boolean {
    return this.#cleaner?.isMusic ?? false;
  }

  close(): void {
    this.#isMuted = true;
    this.#cleaner?.close();
  }

  mute(): void {
    this.#isMuted = true;
  }

  push(atMs: number, bytes: Uint8Array): void {
    this.#sound.push(atMs, bytes);
  }

  inOrder(bytes: Uint8Array): void {
    if (this.#isMuted) return;
    if (this.#noise?.isNoisy(bytes)) this.#suppress();
    const heard = this.#cleaner === undefined ? bytes : this.#cleaner.clean(bytes);
    if (this.#bargeIn.isMeasuring) this.#measure(heard);
    else this.#keep(heard);
    const problem = this.#session.append(heard, this.#clock.monotonicMs());
    if (problem !== undefined) this.#log.debug({ code: problem.code }, 'sound of a call dropped');
  }

  /** The line is noisy: its noise is suppressed from now on. */
  #suppress(): void {
    this.#noise = undefined;
    this.#cleaner = this.#openCleaner?.();
  }

  /** Keeps sound that may turn out to be the begin of speech over an answer. */
  #keep(bytes: Uint8Array): void {
    this.#wasMeasuring = false;
    const ring = this.#before;
    const last = bytes.length > ring.length ? bytes.subarray(-ring.length) : bytes;
    const room = ring.length - this.#beforeAt;
    if (last.length < room) ring.set(last, this.#beforeAt);
    else {
      ring.set(last.subarray(0, room), this.#beforeAt);
      ring.set(last.subarray(room), 0);
    }
    this.#beforeAt = (this.#beforeAt + last.length) % ring.length;
  }

  /** Tells how the caller sounds who speaks over an answer. How loud they were before that was noticed does not count. */
  #measure(bytes: Uint8Array): void {
    if (!this.#wasMeasuring) this.#measureBefore();
    const ms = bytes.length / this.#bytesPerMs;
    if (this.#sounds(bytes, ms)) this.#bargeIn.loud(ms);
  }

  #measureBefore(): void {
    this.#wasMeasuring = true;
    const ring = this.#before;
    const pieceBytes = PIECE_MS * this.#bytesPerMs;
    for (let at = 0; at < ring.length; at += pieceBytes) {
      const from = (this.#beforeAt + at) % ring.length;
      this.#sounds(ring.subarray(from, from + pieceBytes), PIECE_MS);
    }
  }

  #sounds(bytes: Uint8Array, ms: number): boolean {
    const isLoud = this.#loudness.isLoud(bytes);
    if (this.#loudness.isSharp) this.#bargeIn.consonant(ms);
    else if (isLoud) this.#bargeIn.vowel(ms);
    return isLoud;
  }
}
