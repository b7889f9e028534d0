import { bytesPerMs, type SoundFormat, silenceOf } from '../../../media/coding.ts';
import { InOrder, type InOrderListener } from '../../../media/line/in-order.ts';
import { Loudness } from '../../../media/line/loudness.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import type { VoiceSession } from '../../voice/session/voice-session.ts';
import type { BargeIn } from './barge-in.ts';

type CallerSoundDeps = {
  readonly clock: Clock;
  readonly log: Log;
  readonly format: SoundFormat;
  readonly bargeIn: Pick<BargeIn, 'isMeasuring' | 'loud'>;
  readonly session: Pick<VoiceSession, 'append'>;
};

/** Takes the sound of a call's far side in order of its audio time, and passes it to the voice session. */
export class CallerSound implements InOrderListener {
  readonly #sound: InOrder;
  #isMuted = false;
  readonly #bargeIn: CallerSoundDeps['bargeIn'];
  readonly #session: CallerSoundDeps['session'];
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #bytesPerMs: number;
  readonly #loudness: Loudness;

  constructor({ bargeIn, clock, format, log, session }: CallerSoundDeps) {
    this.#bytesPerMs = bytesPerMs(format);
    const silence = silenceOf(format);
    this.#sound = new InOrder({ bytesPerMs: this.#bytesPerMs, silence, listener: this });
    this.#bargeIn = bargeIn;
    this.#session = session;
    this.#clock = clock;
    this.#log = log;
    this.#loudness = new Loudness(format);
  }

  get counters(): InOrder['counters'] {
    return this.#sound.counters;
  }

  /** Whether the far side is not heard any more. */
  get isMuted(): boolean {
    return this.#isMuted;
  }

  mute(): void {
    this.#isMuted = true;
  }

  push(atMs: number, bytes: Uint8Array): void {
    this.#sound.push(atMs, bytes);
  }

  inOrder(bytes: Uint8Array): void {
    if (this.#isMuted) return;
    const bargeIn = this.#bargeIn;
    if (bargeIn.isMeasuring && this.#loudness.isLoud(bytes)) {
      bargeIn.loud(bytes.length / this.#bytesPerMs);
    }
    const problem = this.#session.append(bytes, this.#clock.monotonicMs());
    if (problem !== undefined) this.#log.debug({ code: problem.code }, 'sound of a call dropped');
  }
}
