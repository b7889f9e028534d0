import type { SttListener, SttStream } from '../engines/engine.ts';

type QueueOptions = {
  readonly open: (listener: SttListener) => Promise<SttStream>;
  readonly transcript: SttListener['transcript'];
  /** Told once of each recogniser that fails; whatever waited for it fails with it. */
  readonly lost: (error: Error) => void;
  /** What is done between its steps has failed. */
  readonly failed: (error: Error) => void;
};

/**
 * The recogniser of one ear, and what is to be done with it, one thing after another: steps wait while it is being
 * opened, and while one finishes. It is opened when it is first needed, and again after it was lost or given back.
 */
export class RecogniserQueue {
  readonly #options: QueueOptions;
  #stt: Promise<SttStream> | undefined;
  #work: Promise<void> = Promise.resolve();

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  /** Resolves when everything is done that was asked for until now. */
  get done(): Promise<void> {
    return this.#work;
  }

  next(step: (stream: SttStream) => void | Promise<void>): void {
    const stt = this.#recogniser();
    this.#work = this.#work
      .then(async () => step(await stt))
      .catch((error: unknown) => this.#lost(stt, error));
  }

  /** Does something else in its turn. */
  after(work: () => void): void {
    this.#work = this.#work
      .then(work)
      .catch((error: unknown) => this.#options.failed(asError(error)));
  }

  /** Gives the recogniser back. */
  release(): void {
    const stt = this.#stt;
    this.#stt = undefined;
    stt?.then((stream) => stream.close()).catch(() => {});
  }

  #recogniser(): Promise<SttStream> {
    if (this.#stt !== undefined) return this.#stt;
    const opening = this.#options.open({
      transcript: (transcript) => this.#options.transcript(transcript),
      failed: (error) => this.#lost(opening, error),
    });
    opening.catch((error: unknown) => this.#lost(opening, error));
    this.#stt = opening;
    return opening;
  }

  #lost(stt: Promise<SttStream>, error: unknown): void {
    if (this.#stt !== stt) return;
    this.release();
    this.#options.lost(asError(error));
  }
}

export const asError = (error: unknown): Error =>
  error instanceof Error ? error : new Error(String(error));
