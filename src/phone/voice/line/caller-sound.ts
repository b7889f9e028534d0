import { bytesPerMs, type SoundFormat, silenceOf } from '../../../../media/coding.ts';
import { InOrder, type InOrderListener } from '../../../../media/line/in-order.ts';
import { Loudness } from '../../../../media/line/loudness.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { Log } from '../../../kernel/log.ts';
import type { VoiceSession } from '../../../voice/session/voice-session.ts';
import type { BargeIn } from '../barge-in.ts';
import type { LineCleaner } from '../noise/line-cleaner.ts';

type CallerSoundDeps = {
  readonly clock: Clock;
  readonly log: Log;
  readonly format: SoundFormat;
  readonly bargeIn: Pick<BargeIn, 'isMeasuring' | 'loud'>;
  readonly session: Pick<VoiceSession, 'append'>;
  /** Undefined: the line is heard with its noise. */
  readonly cleaner?: LineCleaner | undefined;
};

/** Takes the peer's sound in order of its audio time, and passes it to the voice session. */
export class CallerSound implements InOrderListener {
  readonly #sound: InOrder;
  #isMuted = false;
  readonly #bargeIn: CallerSoundDeps['bargeIn'];
  readonly #session: CallerSoundDeps['session'];
  readonly #cleaner: LineCleaner | undefined;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #bytesPerMs: number;
  readonly #loudness: Loudness;

  constructor({ bargeIn, cleaner, clock, format, log, session }: CallerSoundDeps) {
    this.#bytesPerMs = bytesPerMs(format);
    const silence = silenceOf(format);
    this.#sound = new InOrder({ bytesPerMs: this.#bytesPerMs, silence, listener: this });
    this.#bargeIn = bargeIn;
    this.#session = session;
    this.#cleaner = cleaner;
    this.#clock = clock;
    this.#log = log;
    this.#loudness = new Loudness(format);
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
    const heard = this.#cleaner === undefined ? bytes : this.#cleaner.clean(bytes);
    const bargeIn = this.#bargeIn;
    if (bargeIn.isMeasuring && this.#loudness.isLoud(heard)) {
      bargeIn.loud(bytes.length / this.#bytesPerMs);
    }
    const problem = this.#session.append(heard, this.#clock.monotonicMs());
    if (problem !== undefined) this.#log.debug({ code: problem.code }, 'sound of a call dropped');
  }
}
