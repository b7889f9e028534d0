/** What was spoken of an answer so far, and when: enough to say which words a listener has heard. */
export class SpokenText {
  readonly #pieces: { readonly text: string; readonly endMs: number }[] = [];
  #endMs = 0;
  #cutAtMs: number | undefined;

  /** The words that a listener who broke in has heard; undefined when nobody did. */
  get cut(): string | undefined {
    return this.#cutAtMs === undefined ? undefined : this.heardBy(this.#cutAtMs);
  }

  get durationMs(): number {
    return this.#endMs;
  }

  get text(): string {
    return this.#pieces.map((piece) => piece.text).join(' ');
  }

  add(text: string, durationMs: number): void {
    this.#endMs += durationMs;
    this.#pieces.push({ text, endMs: this.#endMs });
  }

  /** The listener broke in at `atMs`: what was spoken after it was not heard, and no later cut adds to it. */
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
    for (const { text, endMs } of this.#pieces) {
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
