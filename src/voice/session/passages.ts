/** A queue of text between the LLM and the TTS. */
export class Passages {
  readonly #waiting: string[] = [];
  #isEnded = false;
  #wake = () => {};

  /** Nothing was put in yet. */
  isEmpty = true;

  push(text: string): void {
    this.isEmpty = false;
    this.#waiting.push(text);
    this.#wake();
  }

  /** Nothing follows. */
  end(): void {
    this.#isEnded = true;
    this.#wake();
  }

  /** Resolves to the next passage; undefined: there is no more. For one reader. */
  async next(): Promise<string | undefined> {
    for (;;) {
      const text = this.#waiting.shift();
      if (text !== undefined || this.#isEnded) return text;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
