import { HEARING_WINDOW } from '../../../media/hearing.ts';
import type { RecentSound } from '../../../media/recent-sound.ts';
import type { TurnDetector, VadEvent } from '../../../media/vad.ts';
import type { VadEngine, VadStream } from '../engine.ts';

/** Windows on their way to the model. Sound that arrives meanwhile waits in the ring, 256 ms at most. */
const MAX_IN_FLIGHT = 3;

/** One window that all listeners share: a stream has read it by the time its call returns. */
const window = new Int16Array(HEARING_WINDOW);

type AskedDeps = {
  readonly engine: VadEngine;
  readonly turns: TurnDetector;
  readonly sound: RecentSound;
  readonly report: (event: VadEvent | undefined) => void;
};

/** The second stage of a listener's detection: passes windows to the model while they are wanted. */
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
  /** The model or its listener: the gate goes on alone. */
  readonly #failed = () => this.close();

  constructor({ engine, report, sound, turns }: AskedDeps) {
    this.#engine = engine;
    this.#turns = turns;
    this.#sound = sound;
    this.#report = report;
  }

  /** There is more sound to judge; `isFresh`: none of what came before it was to be judged. */
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

  /** Gives the model's stream back; nothing is asked any more. */
  close(): void {
    this.#isGone = true;
    this.#stream?.close();
    this.#stream = undefined;
  }

  /** The model could not be had, or failed. */
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
      // Busy or not installed: the engine reports that to the operator; the caller can do nothing about it.
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
