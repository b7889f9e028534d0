import { StreamBroken } from '../openai/answer-reader.ts';
import type { SpeechSound } from '../speech-rail.ts';

/** Speech that is encoded while the client reads it. The generator runs at most one piece ahead of the reader. */
export class MadeSpeech implements SpeechSound {
  readonly #file: AsyncGenerator<Uint8Array>;
  readonly #onStop: () => void;
  readonly #onOver: () => void;
  #first: Uint8Array | undefined;
  #isOver = false;

  /**
   * `onStop` ends the source of the audio, so that a pending piece resolves. `onOver` is called once, when the file has ended.
   */
  constructor(
    file: AsyncGenerator<Uint8Array>,
    { onStop, onOver }: { readonly onStop: () => void; readonly onOver: () => void },
  ) {
    this.#file = file;
    this.#onStop = onStop;
    this.#onOver = onOver;
  }

  /**
   * Resolves to true when the first bytes are ready, and to false without any audio. Rejects with the error of the generator.
   */
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
