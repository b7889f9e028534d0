import { SpeechCutter } from '../engines/tts/split-speech.ts';
import { LIMITS } from '../kernel/limits.ts';

/** What a session does in its order. A text is one purchase, and a mark is told of when all before it is done. */
type Job =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'mark'; readonly reached: () => void };

const { speakSentence, speakWaitingChars } = LIMITS.deepgram;

/** The texts of a session that are not spoken yet, cut into sentences, with the marks between them. It is bounded in characters. */
export class SpeakQueue {
  #cutter = new SpeechCutter(speakSentence);
  readonly #jobs: Job[] = [];
  /** Characters of all texts that wait, in the cutter and in jobs. */
  #waitingChars = 0;
  #uncutChars = 0;

  /** No sentence and no mark waits; the beginning of a sentence may. */
  get isEmpty(): boolean {
    return this.#jobs.length === 0;
  }

  /** Whether a text may wait behind the others. */
  hasRoom(text: string): boolean {
    return this.#waitingChars + text.length <= speakWaitingChars;
  }

  add(text: string): void {
    this.#waitingChars += text.length;
    this.#uncutChars += text.length;
    this.#queue(this.#cutter.push(text));
  }

  /** What has no end yet is a sentence as well. */
  cutRest(): void {
    this.#queue(this.#cutter.end());
    // Blanks are not spoken, and wait no longer.
    this.#waitingChars -= this.#uncutChars;
    this.#uncutChars = 0;
  }

  mark(reached: () => void): void {
    this.#jobs.push({ kind: 'mark', reached });
  }

  next(): Job | undefined {
    const job = this.#jobs.shift();
    if (job?.kind === 'text') {
      this.#waitingChars = Math.max(0, this.#waitingChars - job.text.length);
    }
    return job;
  }

  clear(): void {
    this.#jobs.length = 0;
    this.#cutter = new SpeechCutter(speakSentence);
    this.#waitingChars = 0;
    this.#uncutChars = 0;
  }

  #queue(texts: readonly string[]): void {
    for (const text of texts) {
      this.#jobs.push({ kind: 'text', text });
      this.#uncutChars = Math.max(0, this.#uncutChars - text.length);
    }
  }
}
