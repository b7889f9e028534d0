import type { SttListener, SttStream } from '../../engines/engine.ts';

type QueueOptions = {
  readonly open: (listener: SttListener) => Promise<SttStream>;
  readonly transcript: SttListener['transcript'];
  /** Told once of each recogniser that fails; whatever waited for it fails with it. */
  readonly lost: (error: Error) => void;
  /** What is done between its steps has failed. */
  readonly failed: (error: Error) => void;
};

type Recogniser = {
  readonly opening: Promise<SttStream>;
  /** The same once it is open. */
  stream: SttStream | undefined;
};

/**
 * The recogniser of one transcriber, and what is to be done with it, one thing after another: steps wait while it is being
 * opened, and while one finishes. It is opened when it is first needed, and again after it was lost or given back.
 */
export class RecogniserQueue {
  readonly #options: QueueOptions;
  #stt: Recogniser | undefined;
  #work: Promise<void> = Promise.resolve();
  /** Steps of it that are not done yet. */
  #waiting = 0;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  /** Resolves when everything is done that was asked for until now. */
  get done(): Promise<void> {
    return this.#work;
  }

  /**
   * Has the recogniser hear more sound: at once when nothing waits, which is how nearly all of it is heard, or else a
   * copy of it in its turn. Until then copies wait in `waiting`, whose owner bounds it: what is taken out is not heard.
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

  /** Does something else in its turn. */
  after(work: () => void): void {
    this.#inTurn(work, (error) => this.#options.failed(asError(error)));
  }

  /** Gives the recogniser back. */
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
