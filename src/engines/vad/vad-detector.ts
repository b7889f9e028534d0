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
  /** The caller adds each frame to it before it calls `push` with that frame. */
  readonly sound: RecentSound;
  /** Judges frames of the rate that `push` gets. */
  readonly gate?: SpeechGate;
  readonly engine?: VadEngine;
  readonly options?: Partial<Omit<VadOptions, 'answerWithinMs'>>;
  /** Called from within `push`, or later when the model answers; never after `close`. */
  readonly onEvent: (event: VadEvent) => void;
};

type DetectorCounters = {
  /** Number of windows that the model has evaluated. */
  readonly judged: number;
  /** Sound that came too fast for the model. */
  readonly skippedSamples: number;
  /** Decisions that the gate took because the model did not answer in time. */
  readonly gateDecisions: number;
  /** The model could not be had or failed: from then on the gate decides alone. */
  readonly modelGone: boolean;
};

/** `close` gives the gate and the model's stream back. The model is opened when the gate first opens. */
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

  /** Takes the next frame, which the sound has already; nothing is kept of the array. Event times count in the frames so far. */
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
