import { soon } from '../../../kernel/clock.ts';
import { turnForLongWork } from '../../../kernel/long-work.ts';
import { MODEL_LIMITS } from '../../limits.ts';
import type { OpenedAnswer } from '../open-answer.ts';
import { AnswerReader, StreamBroken } from './answer-reader.ts';
import { dataLines } from './data-lines.ts';
import { SseEvents } from './sse-events.ts';
import { LineEnds } from './stream/line-ends.ts';

const { sseEventsPerTurn: MOST } = MODEL_LIMITS.upstream;

/** Reads an opened answer as server-sent events, reduced to their data. */
export class EventReader {
  readonly #answer: AnswerReader;
  readonly #lineEnds = new LineEnds();
  readonly #events = new SseEvents();
  /** Complete events that were not read yet. */
  #whole: Buffer[] = [];
  /** Number of events that were read in the current turn of the event loop. */
  #readInTurn = 0;
  #resetsSoon = false;

  constructor(answer: OpenedAnswer) {
    this.#answer = new AnswerReader(answer);
  }

  get isOver(): boolean {
    return this.#answer.isOver;
  }

  /**
   * Returns the events that the next piece completes, possibly none; undefined at the end. Throws StreamBroken. One turn of the
   * event loop gets at most `MODEL_LIMITS.upstream.sseEventsPerTurn` events, from one piece or from several; a stream no faster than its
   * upstream never waits for another turn.
   */
  async read(): Promise<Buffer[] | undefined> {
    if (this.#readInTurn >= MOST) {
      this.#readInTurn = 0;
      await turnForLongWork();
    }
    if (this.#whole.length === 0) {
      const piece = await this.#answer.read();
      if (piece === undefined) return undefined;
      this.#whole = this.#split(piece);
    }
    const events = this.#whole;
    this.#whole = events.length > MOST ? events.splice(MOST) : [];
    this.#count(events.length);
    return events.flatMap((event) => dataLines(event) ?? []);
  }

  /**
   * Counts events, and resets the count in the next turn of the event loop. The turn is requested only from half of the limit
   * on, so a stream that pauses between events seldom needs one.
   */
  #count(events: number): void {
    this.#readInTurn += events;
    if (this.#resetsSoon || this.#readInTurn < MOST / 2) return;
    this.#resetsSoon = true;
    soon(() => {
      this.#resetsSoon = false;
      this.#readInTurn = 0;
    });
  }

  #split(piece: Buffer): Buffer[] {
    try {
      return this.#events.push(this.#lineEnds.push(piece));
    } catch (error) {
      this.stop();
      throw new StreamBroken('an event is too large', { cause: error });
    }
  }

  /** Notes that the last event has come. */
  finish(): void {
    this.#answer.finish();
  }

  stop(): void {
    this.#answer.stop();
  }
}
