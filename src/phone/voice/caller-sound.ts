import { bytesPerMs, type SoundFormat, silenceOf } from '../../../media/coding.ts';
import { InOrder } from '../../../media/line/in-order.ts';
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
  readonly isMuted: () => boolean;
};

/** Takes the sound of a call's far side in order of its audio time, and passes it to the voice session. */
export class CallerSound {
  readonly #deps: CallerSoundDeps;
  readonly #sound: InOrder;
  readonly #bytesPerMs: number;
  readonly #loudness: Loudness;
  /** When the last sound came; in an object, see docs/decisions/0076. */
  readonly #arrived = { atMs: 0 };

  constructor(deps: CallerSoundDeps) {
    const { format } = deps;
    this.#deps = deps;
    this.#bytesPerMs = bytesPerMs(format);
    this.#loudness = new Loudness(format);
    this.#sound = new InOrder({
      bytesPerMs: this.#bytesPerMs,
      silence: silenceOf(format),
      take: (bytes) => this.#hear(bytes),
    });
  }

  get counters(): InOrder['counters'] {
    return this.#sound.counters;
  }

  push(atMs: number, bytes: Uint8Array): void {
    this.#arrived.atMs = this.#deps.clock.monotonicMs();
    this.#sound.push(atMs, bytes);
  }

  #hear(bytes: Uint8Array): void {
    const { bargeIn, isMuted, log, session } = this.#deps;
    if (isMuted()) return;
    if (bargeIn.isMeasuring && this.#loudness.isLoud(bytes)) {
      bargeIn.loud(bytes.length / this.#bytesPerMs);
    }
    const problem = session.append(bytes, this.#arrived.atMs);
    if (problem !== undefined) log.debug({ code: problem.code }, 'sound of a call dropped');
  }
}
