import type { Passage } from '../speech-text/speech-parts.ts';

/** Queue of text from the LLM to the TTS. */
export class Passages {
  readonly #waiting: Passage[] = [];
  #isEnded = false;
  #wake = () => {};

  /** True until the first passage is queued. */
  isEmpty = true;

  push(passage: Passage): void {
    this.isEmpty = false;
    this.#waiting.push(passage);
    this.#wake();
  }

  /** Marks the queue as complete: no passage follows. */
  end(): void {
    this.#isEnded = true;
    this.#wake();
  }

  /** Resolves to the next passage, or to undefined after the last one. Supports one reader. */
  async next(): Promise<Passage | undefined> {
    for (;;) {
      const passage = this.#waiting.shift();
      if (passage !== undefined || this.#isEnded) return passage;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
