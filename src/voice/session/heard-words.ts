/** What was spoken of an answer so far, and when: enough to say which words a listener has heard. */
export class SpokenText {
  readonly #pieces: { readonly text: string; endMs: number }[] = [];
  #endMs = 0;
  /** How long the last sentence is taken to be, while more of its sound is to come. */
  #expectedEndMs = 0;
  #cutAtMs: number | undefined;

  /** The words that the caller had heard at a barge-in; undefined where there was none. */
  get cut(): string | undefined {
    return this.#cutAtMs === undefined ? undefined : this.heardBy(this.#cutAtMs);
  }

  get durationMs(): number {
    return this.#endMs;
  }

  get text(): string {
    return this.#pieces.map((piece) => piece.text).join(' ');
  }

  /** A sentence begins whose sound is still coming, and which lasts about so long. */
  begin(text: string, expectedMs: number): void {
    this.#expectedEndMs = this.#endMs + expectedMs;
    this.#pieces.push({ text, endMs: this.#endMs });
  }

  /** So much more of the last sentence was spoken. */
  lasted(ms: number): void {
    this.#endMs += ms;
    const last = this.#pieces.at(-1);
    if (last !== undefined) last.endMs = this.#endMs;
  }

  /** The last sentence has all of its sound. */
  ended(): void {
    this.#expectedEndMs = 0;
  }

  /** The listener interrupted at `atMs`: what was spoken after it was not heard, and no later cut adds to it. */
  cutAt(atMs: number): void {
    this.#cutAtMs = Math.min(atMs, this.#cutAtMs ?? atMs);
  }

  /**
   * The words heard by `atMs`: whole sentences before it, and of the sentence it falls into the share
   * of words that its share of the time has covered. A word that was cut off was not heard.
   */
  heardBy(atMs: number): string {
    const heard: string[] = [];
    let startMs = 0;
    for (const [index, { text, endMs: knownEndMs }] of this.#pieces.entries()) {
      const isLast = index === this.#pieces.length - 1;
      const endMs = isLast ? Math.max(knownEndMs, this.#expectedEndMs) : knownEndMs;
      if (atMs >= endMs) {
        heard.push(text);
      } else {
        const words = text.split(/\s+/);
        const share = (atMs - startMs) / (endMs - startMs);
        heard.push(words.slice(0, Math.floor(words.length * Math.max(0, share))).join(' '));
        break;
      }
      startMs = endMs;
    }
    return heard.filter((text) => text !== '').join(' ');
  }
}
