/**
 * Voice activity detection for one listener: frames of 20 ms in, turns out. The gate and the line's loudness are evaluated in
 * this thread; the model runs in a worker and may be late or gone.
 */
import type { RecentSound } from '../../../media/recent-sound.ts';
import { TurnDetector, type VadEvent, type VadOptions } from '../../../media/vad.ts';
import type { VadEngine } from '../engine.ts';
import { AskedModel } from './asked-model.ts';
import type { SpeechGate } from './fvad-gate.ts';

export type DetectorDeps = {
  /** Recent audio. The caller adds each frame to it before passing the frame to `push`. */
  readonly sound: RecentSound;
  /** First stage of the detection, for frames of the sample rate that `push` receives. */
  readonly gate?: SpeechGate;
  readonly engine?: VadEngine;
  readonly options?: Partial<Omit<VadOptions, 'answerWithinMs'>>;
  /** Called during `push`, or later when the model answers; never after `close`. */
  readonly onEvent: (event: VadEvent) => void;
};

type DetectorCounters = {
  /** Number of windows that the model has evaluated. */
  readonly judged: number;
  /** Number of samples that were not evaluated because audio arrived too fast for the model. */
  readonly skippedSamples: number;
  /** Number of decisions that the gate made because the model did not answer in time. */
  readonly gateDecisions: number;
  /** True when the model could not be opened or failed. From then on the gate decides alone. */
  readonly modelGone: boolean;
};

/**
 * Detects the beginnings and ends of speech in one stream, with a gate and then a model, which it opens when the gate first
 * opens. `close` gives both back.
 */
export class VoiceDetector {
  readonly #gate: SpeechGate | undefined;
  readonly #onEvent: (event: VadEvent) => void;
  readonly #turns: TurnDetector;
  readonly #sound: RecentSound;
  readonly #model: AskedModel | undefined;
  #isOpen = true;
  /** True when the last frame was passed to the model. */
  #wasAsked = false;

  constructor({ engine, gate, onEvent, options, sound }: DetectorDeps) {
    this.#gate = gate;
    this.#onEvent = onEvent;
    this.#turns = new TurnDetector({
      ...options,
      ...(engine === undefined ? { answerWithinMs: 0 } : {}),
    });
    const turns = this.#turns;
    this.#sound = sound;
    const report = (event: VadEvent | undefined) => this.#report(event);
    this.#model = engine && new AskedModel({ engine, report, turns, sound });
  }

  /**
   * Evaluates the next frame, which the caller has already added to `sound`; does not keep the array. Event times count the
   * frames up to now.
   */
  push(frame: Int16Array): void {
    if (!this.#isOpen) return;
    this.#report(this.#turns.frame(frame, this.#gate));
    const isAsked = this.#turns.wantsProbability;
    if (isAsked) this.#model?.hear(!this.#wasAsked);
    this.#wasAsked = isAsked;
  }

  /** Forgets a turn in progress, for example when the audio was committed or cleared by the client. */
  reset(): void {
    this.#turns.reset();
  }

  /** Resolves when the model has answered all windows sent up to now. */
  async settled(): Promise<void> {
    await this.#model?.settled();
  }

  close(): void {
    if (this.#isOpen) this.#gate?.close();
    this.#isOpen = false;
    this.#model?.close();
  }

  get speaking(): boolean {
    return this.#turns.speaking;
  }

  get counters(): DetectorCounters {
    return {
      judged: this.#model?.judged ?? 0,
      skippedSamples: this.#sound.skippedSamples,
      gateDecisions: this.#turns.gateDecisions,
      modelGone: this.#model?.gone ?? true,
    };
  }

  #report(event: VadEvent | undefined): void {
    if (event !== undefined && this.#isOpen) this.#onEvent(event);
  }
}
