import { StreamBroken } from '../openai/answer-reader.ts';
import type { SpeechSound } from '../speech-rail.ts';

/** Speech whose file is made while it is heard: what makes it is a piece ahead of its reader and no further. */
export class MadeSpeech implements SpeechSound {
  readonly #file: AsyncGenerator<Uint8Array>;
  readonly #onStop: () => void;
  readonly #onOver: () => void;
  #first: Uint8Array | undefined;
  #isOver = false;

  /** `onStop` ends what the file is made of, so that a piece that is waited for comes to an end; `onOver` hears once of its end. */
  constructor(
    file: AsyncGenerator<Uint8Array>,
    { onStop, onOver }: { readonly onStop: () => void; readonly onOver: () => void },
  ) {
    this.#file = file;
    this.#onStop = onStop;
    this.#onOver = onOver;
  }

  /** Resolves when its first bytes are there, and to false where there is no sound. Rejects as its maker does. */
  async begin(): Promise<boolean> {
    const first = await this.#step();
    this.#first = first;
    return first !== undefined;
  }

  async next(): Promise<Uint8Array | undefined> {
    const first = this.#first;
    this.#first = undefined;
    if (first !== undefined) return first;
    try {
      return await this.#step();
    } catch (error) {
      throw new StreamBroken('what makes it failed', { cause: error });
    }
  }

  usage = () => null;

  stop(): void {
    this.#onStop();
    this.#end();
  }

  async #step(): Promise<Uint8Array | undefined> {
    if (this.#isOver) return undefined;
    try {
      const next = await this.#file.next();
      if (next.done !== true) return next.value;
    } catch (error) {
      this.#end();
      throw error;
    }
    this.#end();
    return undefined;
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    // A file that is abandoned in its middle still has to free its encoder.
    this.#file.return(undefined).catch(() => {});
    this.#onOver();
  }
}
