import { isObject, type Json } from '../../../kernel/json.ts';
import type { OpenedAnswer } from '../open-answer.ts';
import {
  NOTHING_TOLD,
  type TranscriptionUsage,
  type TranscriptStream,
} from '../transcription-rail.ts';
import { StreamBroken } from './answer-reader.ts';
import { isTerminator, readData } from './chat-tap.ts';
import { EventReader } from './event-reader.ts';
import { deltaEvent, doneEvent } from './transcript-events.ts';
import { readTranscriptUsage } from './transcript-usage.ts';

const DONE_TYPE = 'transcript.text.done';

/** Relays an opened answer as a transcript, with its events unchanged. */
export class RelayedTranscript implements TranscriptStream {
  readonly #events: EventReader;
  #first: Uint8Array | undefined;
  #usage = NOTHING_TOLD;
  #isWhole = false;

  constructor(answer: OpenedAnswer) {
    this.#events = new EventReader(answer);
  }

  /**
   * Resolves when the first event has arrived. Throws StreamBroken when the upstream breaks before that and has delivered
   * nothing.
   */
  async begin(): Promise<void> {
    this.#first = await this.next();
    if (this.#first === undefined) throw new StreamBroken('it has no events');
  }

  async next(): Promise<Uint8Array | undefined> {
    const first = this.#first;
    this.#first = undefined;
    if (first !== undefined) return first;
    while (!this.#events.isOver) {
      const events = await this.#events.read();
      if (events === undefined) {
        if (!this.#isWhole) throw new StreamBroken('it ended before its end');
        return undefined;
      }
      const relayed: Buffer[] = [];
      for (const event of events) if (await this.#look(event)) relayed.push(event);
      if (relayed.length > 0) return Buffer.concat(relayed);
    }
    return undefined;
  }

  metered(): TranscriptionUsage {
    return this.#usage;
  }

  stop(): void {
    this.#events.stop();
  }

  /** Returns true when an event is relayed. The terminator is dropped: this server writes its own after its last event. */
  async #look(event: Buffer): Promise<boolean> {
    if (this.#events.isOver) return false;
    if (isTerminator(event)) {
      this.#events.finish();
      return false;
    }
    const data = event.includes(DONE_TYPE) ? await readData(event) : undefined;
    if (isObject(data) && data.type === DONE_TYPE) {
      this.#isWhole = true;
      this.#usage = readTranscriptUsage(data);
    }
    return true;
  }
}

/**
 * Returns the stream of a transcript that came whole although a stream was requested: one delta, and the last event with the
 * whole text.
 */
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
