import { SpeechCutter } from '../engines/tts/split-speech.ts';
import { LIMITS } from '../kernel/limits.ts';

/** What a session does in its order. A text is one purchase. */
type Job = { readonly kind: 'text'; readonly text: string } | { readonly kind: 'flush' };

const { speakSentence, speakWaitingChars } = LIMITS.deepgram;

/** The texts of a session that are not spoken yet, cut into sentences, with the flushes between them. It is bounded in characters. */
export class SpeakQueue {
  #cutter = new SpeechCutter(speakSentence);
  readonly #jobs: Job[] = [];
  /** Characters of all texts that wait, in the cutter and in jobs. */
  #waitingChars = 0;
  #uncutChars = 0;

  /** No sentence and no flush waits; the beginning of a sentence may. */
  get isEmpty(): boolean {
    return this.#jobs.length === 0;
  }

  /** Takes a text; false: too much waits already, and nothing of it was taken. */
  add(text: string): boolean {
    if (this.#waitingChars + text.length > speakWaitingChars) return false;
    this.#waitingChars += text.length;
    this.#uncutChars += text.length;
    this.#queue(this.#cutter.push(text));
    return true;
  }

  /** What has no end yet is a sentence as well. */
  cutRest(): void {
    this.#queue(this.#cutter.end());
    // Blanks are not spoken, and wait no longer.
    this.#waitingChars -= this.#uncutChars;
    this.#uncutChars = 0;
  }

  flush(): void {
    this.cutRest();
    this.#jobs.push({ kind: 'flush' });
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
