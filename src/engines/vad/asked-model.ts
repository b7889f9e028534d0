import { HEARING_WINDOW } from '../../../media/hearing.ts';
import type { RecentSound } from '../../../media/recent-sound.ts';
import type { TurnDetector, VadEvent } from '../../../media/vad.ts';
import type { VadEngine, VadStream } from '../engine.ts';

/** Upper bound of the windows sent to the model and not answered. Later audio waits in the ring, 256 ms at most. */
const MAX_IN_FLIGHT = 3;

/** A window that all listeners share. A stream has read it by the time its call returns. */
const window = new Int16Array(HEARING_WINDOW);

type AskedDeps = {
  readonly engine: VadEngine;
  readonly turns: TurnDetector;
  readonly sound: RecentSound;
  readonly report: (event: VadEvent | undefined) => void;
};

/** The second stage of a listener's speech detection: passes audio to the model while the turn detector wants probabilities. */
export class AskedModel {
  readonly #engine: VadEngine;
  readonly #turns: TurnDetector;
  readonly #sound: RecentSound;
  readonly #report: AskedDeps['report'];
  #inFlight = 0;
  #stream: VadStream | undefined;
  #opening: Promise<void> | undefined;
  #lastAnswer: Promise<void> = Promise.resolve();
  #isGone = false;
  #judged = 0;
  /** Closes the stream after a failure of the model or of the listener. The gate then decides alone. */
  readonly #failed = () => this.close();

  constructor({ engine, report, sound, turns }: AskedDeps) {
    this.#engine = engine;
    this.#turns = turns;
    this.#sound = sound;
    this.#report = report;
  }

  /** Passes new audio to the model. `isFresh` is true when the audio just before it was not passed on. */
  hear(isFresh: boolean): void {
    if (this.#isGone) return;
    if (isFresh) this.#sound.lookBack();
    else this.#sound.catchUp();
    this.#opening ??= this.#open();
    this.#ask();
  }

  async settled(): Promise<void> {
    await this.#opening;
    for (let seen: unknown; seen !== this.#lastAnswer; ) {
      seen = this.#lastAnswer;
      await this.#lastAnswer;
    }
  }

  /** Closes the model's stream. No further windows are sent. */
  close(): void {
    this.#isGone = true;
    this.#stream?.close();
    this.#stream = undefined;
  }

  /** True when the model could not be opened or has failed. */
  get gone(): boolean {
    return this.#isGone;
  }

  get judged(): number {
    return this.#judged;
  }

  async #open(): Promise<void> {
    try {
      const opened = await this.#engine.open();
      if (this.#isGone) opened.close();
      else this.#stream = opened;
    } catch {
      // The engine itself reports to the operator that it is busy or not installed; the caller can do nothing about it.
      this.#isGone = true;
    }
    this.#ask();
  }

  #ask(): void {
    while (!this.#isGone && this.#stream !== undefined && this.#turns.wantsProbability) {
      if (this.#inFlight === MAX_IN_FLIGHT) return;
      const endMs = this.#sound.pull(window);
      if (endMs === undefined) return;
      this.#inFlight++;
      this.#lastAnswer = this.#stream
        .probability(window)
        .then((value) => this.#answered(value, endMs), this.#failed);
    }
  }

  #answered(value: number, endMs: number): void {
    this.#inFlight--;
    if (!Number.isNaN(value)) this.#judged++;
    try {
      this.#report(this.#turns.probability(value, endMs));
      this.#ask();
    } catch {
      this.#failed();
    }
  }
}
