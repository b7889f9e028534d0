import { cutWords } from '../session/heard-words.ts';

/** Counts the characters that one answer has spoken. */
export class SpokenChars {
  #taken = 0;
  /** The words that began last, and how much sound of them there is. */
  #words = '';
  #soundMs = 0;
  total = 0;

  begins(words: string): void {
    this.total += words.length;
    this.#words = words;
    this.#soundMs = 0;
  }

  lasted(ms: number): void {
    this.#soundMs += ms;
  }

  /** The sound broke off: the rest of the latest words does not count, unless it was taken. `speed` is that of the voice. */
  broke(speed: number): void {
    const { said } = cutWords(this.#words, this.#soundMs * speed);
    this.total = Math.max(this.#taken, this.total - this.#words.length + said.length);
  }

  /** The characters since the last time. */
  take(): number {
    const chars = this.total - this.#taken;
    this.#taken = this.total;
    return chars;
  }
}
