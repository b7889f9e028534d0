import { Loudness } from '../../../../media/line/loudness.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { Callee } from '../../../phone/carriers/loopback/loopback-line.ts';

/** Format of a telephone line: mu-law at 8 kHz, in frames of 20 ms. */
const FORMAT = { encoding: 'mulaw', sampleRateHz: 8_000 } as const;
const FRAME_MS = 20;

/** Latency of the answer to one line of the callee, measured in the sound on the wire and not in the server's events. */
export type SpokenLine = {
  /** Milliseconds from the end of the callee's speech to the first sound of the answer. */
  readonly firstSoundMs: number | undefined;
  /**
   * Milliseconds from the end of the callee's speech to the first loud sound of the answer. A synthesiser may begin with
   * silence.
   */
  readonly firstLoudMs: number | undefined;
  /** Milliseconds of an answer that the callee had heard before it spoke. */
  readonly heardMs: number;
  /** Milliseconds from the start of the callee's speech to the last sound of the answer that it interrupted. */
  readonly silentAfterMs: number | undefined;
};

type Measured = {
  readonly heardMs: number;
  readonly beganMs: number;
  endedMs: number;
  overheardMs: number | undefined;
  answeredMs: number | undefined;
  loudMs: number | undefined;
};

/** Wraps a callee and measures its conversation from the audio alone, as a stopwatch at the telephone would. */
export class MeasuredCallee implements Callee {
  readonly #clock: Clock;
  readonly #callee: Callee;
  readonly #ears = new Loudness(FORMAT);
  readonly #mouth = new Loudness(FORMAT);
  readonly #lines: Measured[] = [];
  #isSpeaking = false;
  #heardFrames = 0;

  constructor(clock: Clock, callee: Callee) {
    this.#clock = clock;
    this.#callee = callee;
  }

  get isGone(): boolean {
    return this.#callee.isGone;
  }

  get lines(): readonly SpokenLine[] {
    return this.#lines.map(({ answeredMs, beganMs, endedMs, heardMs, loudMs, overheardMs }) => ({
      heardMs,
      firstSoundMs: between(endedMs, answeredMs),
      firstLoudMs: between(endedMs, loudMs),
      silentAfterMs: between(beganMs, overheardMs),
    }));
  }

  hear(frame: Uint8Array | undefined): void {
    this.#callee.hear(frame);
    if (frame === undefined) return;
    this.#heardFrames++;
    const line = this.#lines.at(-1);
    if (line === undefined) return;
    const nowMs = this.#clock.monotonicMs();
    const isLoud = this.#ears.isLoud(frame);
    if (this.#isSpeaking && isLoud) line.overheardMs = nowMs + FRAME_MS;
    if (this.#isSpeaking) return;
    line.answeredMs ??= nowMs;
    if (isLoud) line.loudMs ??= nowMs;
  }

  say(): Uint8Array | undefined {
    const frame = this.#callee.say();
    if (frame === undefined) {
      this.#isSpeaking = false;
      return undefined;
    }
    if (!this.#mouth.isLoud(frame)) return frame;
    const nowMs = this.#clock.monotonicMs();
    if (this.#isSpeaking) this.#spokeUntil(nowMs);
    else this.#began(nowMs);
    this.#isSpeaking = true;
    return frame;
  }

  #began(nowMs: number): void {
    this.#lines.push({
      heardMs: this.#heardFrames * FRAME_MS,
      beganMs: nowMs,
      endedMs: nowMs + FRAME_MS,
      overheardMs: undefined,
      answeredMs: undefined,
      loudMs: undefined,
    });
    this.#heardFrames = 0;
  }

  /** Notes the end of the callee's current line at its last loud frame: recordings have silence behind their speech. */
  #spokeUntil(nowMs: number): void {
    const line = this.#lines.at(-1);
    if (line !== undefined) line.endedMs = nowMs + FRAME_MS;
  }
}

const between = (fromMs: number, toMs: number | undefined): number | undefined =>
  toMs === undefined ? undefined : Math.round(toMs - fromMs);
