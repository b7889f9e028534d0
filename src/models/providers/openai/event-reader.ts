import type { OpenedAnswer } from '../open-answer.ts';
import { AnswerReader, StreamBroken } from './answer-reader.ts';
import { dataLines } from './data-lines.ts';
import { SseEvents } from './sse-events.ts';

/** Reads an opened answer as server-sent events, of each its data alone. */
export class EventReader {
  readonly #answer: AnswerReader;
  readonly #events = new SseEvents();

  constructor(answer: OpenedAnswer) {
    this.#answer = new AnswerReader(answer);
  }

  get isOver(): boolean {
    return this.#answer.isOver;
  }

  /** The events that the next piece completes, which may be none. Undefined: it has ended. Throws StreamBroken. */
  async read(): Promise<Buffer[] | undefined> {
    const piece = await this.#answer.read();
    if (piece === undefined) return undefined;
    try {
      return this.#events.push(piece).flatMap((event) => dataLines(event) ?? []);
    } catch (error) {
      this.stop();
      throw new StreamBroken('an event is too large', { cause: error });
    }
  }

  /** The last event has come. */
  finish(): void {
    this.#answer.finish();
  }

  stop(): void {
    this.#answer.stop();
  }
}
