import type { SttListener, SttStream } from '../../engines/engine.ts';

type QueueOptions = {
  readonly open: (listener: SttListener) => Promise<SttStream>;
  readonly transcript: SttListener['transcript'];
  /** Called with each sign of a recogniser that detects the ends of turns. */
  readonly turn?: SttListener['turn'];
  /** Called once for each recogniser that fails. The queued steps for it fail as well. */
  readonly lost: (error: Error) => void;
  /** Called when work passed to `after` has thrown. */
  readonly failed: (error: Error) => void;
};

type Recogniser = {
  readonly opening: Promise<SttStream>;
  /** The open stream; undefined until `opening` resolves. */
  stream: SttStream | undefined;
};

/**
 * Runs the steps of one transcriber on its recogniser, one after another. Opens the recogniser at the first step, and again
 * after the recogniser failed or was released.
 */
export class RecogniserQueue {
  readonly #options: QueueOptions;
  #stt: Recogniser | undefined;
  #work: Promise<void> = Promise.resolve();
  /** Number of steps that are not finished. */
  #waiting = 0;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  /** True when the open recogniser reports the ends of turns; undefined when no recogniser is open. */
  get takesTurns(): boolean | undefined {
    return this.#stt?.stream && this.#stt.stream.takesTurns === true;
  }

  /** Resolves when all steps queued so far are done. */
  get done(): Promise<void> {
    return this.#work;
  }

  /**
   * Pushes audio to the recogniser: at once when no step is queued, else as a copy after the queued steps. Copies are kept in
   * `waiting`, which the caller bounds and may empty.
   */
  hear(frame: Int16Array, waiting: Int16Array[]): void {
    const stt = this.#stt;
    if (this.#waiting > 0 || stt?.stream === undefined) {
      if (waiting.push(frame.slice()) > 1) return;
      this.next((stream) => {
        for (const kept of waiting.splice(0)) stream.push(kept);
      });
      return;
    }
    try {
      stt.stream.push(frame);
    } catch (error) {
      this.#lost(stt, error);
    }
  }

  next(step: (stream: SttStream) => void | Promise<void>): void {
    const stt = this.#recogniser();
    this.#inTurn(
      async () => step(await stt.opening),
      (error) => this.#lost(stt, error),
    );
  }

  /** Queues work that needs no recogniser. */
  after(work: () => void): void {
    this.#inTurn(work, (error) => this.#options.failed(asError(error)));
  }

  /** Releases the recogniser. */
  release(): void {
    const stt = this.#stt;
    this.#stt = undefined;
    stt?.opening.then((stream) => stream.close()).catch(() => {});
  }

  #inTurn(work: () => void | Promise<void>, failed: (error: unknown) => void): void {
    this.#waiting++;
    this.#work = this.#work
      .then(work)
      .catch(failed)
      .then(() => {
        this.#waiting--;
      });
  }

  #recogniser(): Recogniser {
    if (this.#stt !== undefined) return this.#stt;
    const opening = this.#options.open({
      transcript: (transcript) => this.#options.transcript(transcript),
      turn: (sign) => this.#options.turn?.(sign),
      failed: (error) => this.#lost(stt, error),
    });
    const stt: Recogniser = { opening, stream: undefined };
    opening.then(
      (stream) => {
        stt.stream = stream;
      },
      (error: unknown) => this.#lost(stt, error),
    );
    this.#stt = stt;
    return stt;
  }

  #lost(stt: Recogniser, error: unknown): void {
    if (this.#stt !== stt) return;
    this.release();
    this.#options.lost(asError(error));
  }
}

export const asError = (error: unknown): Error =>
  error instanceof Error ? error : new Error(String(error));
