/** What is to be said, in order, from the one who thinks of it to the one who says it. */
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

  /** The next one, once it is there. Undefined: that was all. For one reader. */
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
