import { SpeechCutter } from '../../../engines/tts/split-speech.ts';
import { DEEPGRAM_LIMITS } from '../limits.ts';

/** One step of a session: speaking a text, or calling `reached` once all earlier steps are done. */
type Job =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'mark'; readonly reached: () => void };

const { sentence: speakSentence, waitingChars: speakWaitingChars } = DEEPGRAM_LIMITS.speak;

/** Queue of the sentences that a session has still to speak, with marks between them. `hasRoom` bounds their characters. */
export class SpeakQueue {
  #cutter = new SpeechCutter(speakSentence);
  readonly #jobs: Job[] = [];
  /** Characters of all queued texts: in the cutter and in jobs. */
  #waitingChars = 0;
  #uncutChars = 0;

  /** True when no whole sentence and no mark is queued. The cutter may still keep the beginning of a sentence. */
  get isEmpty(): boolean {
    return this.#jobs.length === 0;
  }

  /** Returns true when a text fits into the queue: all queued texts together have at most `speakWaitingChars` characters. */
  hasRoom(text: string): boolean {
    return this.#waitingChars + text.length <= speakWaitingChars;
  }

  add(text: string): void {
    this.#waitingChars += text.length;
    this.#uncutChars += text.length;
    this.#queue(this.#cutter.push(text));
  }

  /** Queues the beginning of a sentence whose end has not come. */
  cutRest(): void {
    this.#queue(this.#cutter.end());
    // The rest in the cutter is blank: it is not spoken, and no longer counts as queued.
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
