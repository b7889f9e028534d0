import { SPEECH_LIMITS } from '../../models/speech/limits.ts';

const QUESTION = /[?？]['"”’)\]]*\s*$/;

/** Estimate of the time that a text takes to be spoken, for as long as its sound is unknown. */
export const spokenMsOf = (text: string): number =>
  (Buffer.byteLength(text) * 1_000) / SPEECH_LIMITS.textBytesPerSecond;

/** Cuts a text whose sound broke off after `soundMs` into the words that were said and the rest, which has a word at least. */
export function cutWords(text: string, soundMs: number): { said: string; rest: string } {
  const words = text.split(/\s+/);
  const share = Math.min(1, soundMs / Math.max(1, spokenMsOf(text)));
  const count = Math.min(words.length - 1, Math.floor(words.length * share));
  return { said: words.slice(0, count).join(' '), rest: words.slice(count).join(' ') };
}

/** Spoken sentences of an answer with the end times of their audio. Computes which words the caller has heard. */
export class SpokenText {
  readonly #pieces: { readonly text: string; endMs: number }[] = [];
  #endMs = 0;
  /**
   * Estimated end of the last sentence in milliseconds of the answer's audio, while more of the sentence is to come; else 0.
   */
  #expectedEndMs = 0;
  #cutAtMs: number | undefined;

  /** Returns the words that the caller had heard at a barge-in; undefined when no barge-in cut the answer. */
  get cut(): string | undefined {
    return this.#cutAtMs === undefined ? undefined : this.heardBy(this.#cutAtMs);
  }

  get durationMs(): number {
    return this.#endMs;
  }

  get text(): string {
    return this.#pieces.map((piece) => piece.text).join(' ');
  }

  /** Begins a sentence that will last about `expectedMs`. Its audio follows. */
  begin(text: string, expectedMs: number): void {
    this.#expectedEndMs = this.#endMs + expectedMs;
    this.#pieces.push({ text, endMs: this.#endMs });
  }

  /** Adds `ms` of audio to the last sentence. */
  lasted(ms: number): void {
    this.#endMs += ms;
    const last = this.#pieces.at(-1);
    if (last !== undefined) last.endMs = this.#endMs;
  }

  /** Marks the answer as complete: its last sentence has all its audio. */
  ended(): void {
    this.#expectedEndMs = 0;
  }

  /** Records that the caller interrupted at `atMs` and heard nothing after it. A later cut adds no words. */
  cutAt(atMs: number): void {
    this.#cutAtMs = Math.min(atMs, this.#cutAtMs ?? atMs);
  }

  /** Returns true when a question ends at most `beforeMs` after `atMs`, or ended at most `afterMs` before `atMs`. */
  isAtQuestion(
    atMs: number,
    { afterMs, beforeMs }: { readonly beforeMs: number; readonly afterMs: number },
  ): boolean {
    return this.#pieces.some(({ endMs: knownEndMs, text }, nth) => {
      const isLast = nth === this.#pieces.length - 1;
      const endMs = isLast ? Math.max(knownEndMs, this.#expectedEndMs) : knownEndMs;
      return QUESTION.test(text) && endMs - atMs <= beforeMs && atMs - endMs <= afterMs;
    });
  }

  /**
   * Returns the words heard by `atMs`: all whole sentences, and of the sentence in progress a share of the words in proportion
   * to time. A word that was cut off does not count.
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
