import { isObject, type Json } from '../kernel/json.ts';
import { StreamBroken } from './chat-stream.ts';
import type { OpenedAnswer } from './open-answer.ts';
import { SseEvents } from './sse-events.ts';
import { deltaEvent, doneEvent } from './transcript-events.ts';
import { readTranscriptUsage } from './transcript-usage.ts';
import {
  NOTHING_TOLD,
  type TranscriptionUsage,
  type TranscriptStream,
} from './transcription-rail.ts';

const TERMINATOR = /^data: ?\[DONE\]\s*$/m;
const DONE_TYPE = 'transcript.text.done';

/** Reads an opened answer as a transcript: its events go on as they came. */
export class RelayedTranscript implements TranscriptStream {
  readonly #answer: OpenedAnswer;
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #events = new SseEvents();
  #first: Uint8Array | undefined;
  #usage = NOTHING_TOLD;
  #isDone = false;
  #isWhole = false;

  constructor(answer: OpenedAnswer) {
    this.#answer = answer;
    this.#source = answer.body[Symbol.asyncIterator]();
  }

  /** Resolves when the first event is there: an upstream that breaks before that has delivered nothing. */
  async begin(): Promise<void> {
    this.#first = await this.next();
    if (this.#first === undefined) throw new StreamBroken('it has no events');
  }

  async next(): Promise<Uint8Array | undefined> {
    const first = this.#first;
    this.#first = undefined;
    if (first !== undefined) return first;
    while (!this.#isDone) {
      const chunk = await this.#read();
      if (chunk === undefined) {
        this.#isDone = true;
        if (!this.#isWhole) throw new StreamBroken('it ended before its end');
        return undefined;
      }
      const relayed = this.#split(chunk).filter((event) => this.#look(event));
      if (relayed.length > 0) return Buffer.concat(relayed);
    }
    return undefined;
  }

  metered(): TranscriptionUsage {
    return this.#usage;
  }

  stop(): void {
    this.#isDone = true;
    this.#answer.stop();
  }

  async #read(): Promise<Buffer | undefined> {
    try {
      const next = await this.#source.next();
      return next.done === true ? undefined : Buffer.from(next.value);
    } catch (error) {
      this.#isDone = true;
      throw new StreamBroken('it broke off', { cause: error });
    }
  }

  #split(chunk: Buffer): Buffer[] {
    try {
      return this.#events.push(chunk);
    } catch (error) {
      this.stop();
      throw new StreamBroken('an event is too large', { cause: error });
    }
  }

  /** Whether an event goes on. What ends them all is written behind our own last words. */
  #look(event: Buffer): boolean {
    if (this.#isDone) return false;
    if (event.length < 64 && TERMINATOR.test(event.toString('latin1'))) {
      this.#isDone = true;
      return false;
    }
    const told = event.includes(DONE_TYPE) ? parseData(event) : undefined;
    if (told?.type === DONE_TYPE) {
      this.#isWhole = true;
      this.#usage = readTranscriptUsage(told);
    }
    return true;
  }
}

function parseData(event: Buffer): Json | undefined {
  const lines = event.toString('utf8').split(/\r?\n/);
  const data = lines.filter((line) => line.startsWith('data:')).map((line) => line.slice(5));
  try {
    const value: unknown = JSON.parse(data.join('\n'));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A transcript that came whole though a stream was asked for: one delta, and all of it. */
export function streamOfTranscript(
  { text, usage }: Json,
  metered: TranscriptionUsage,
): TranscriptStream {
  const whole = String(text);
  const events = [...(whole === '' ? [] : [deltaEvent(whole)]), doneEvent(whole, usage)];
  return {
    next: async () => events.shift(),
    metered: () => metered,
    stop() {
      events.length = 0;
    },
  };
}
