import { isObject, type Json } from '../../../kernel/json.ts';
import type { AnswerNote, TokenUsage } from '../chat-rail.ts';
import type { OpenedAnswer } from '../open-answer.ts';
import { StreamBroken } from '../openai/answer-reader.ts';
import { readData } from '../openai/chat-tap.ts';
import { EventReader } from '../openai/event-reader.ts';
import { ReportedError } from '../reported-error.ts';
import { readPlainDelta } from './plain-delta.ts';
import { writeEvent } from './response-event.ts';
import { responseNote } from './response-note.ts';
import { readResponseUsage } from './response-usage.ts';
import type { ResponseEvents, ResponsesCall } from './responses-rail.ts';

const LAST: ReadonlySet<unknown> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
]);

/** Accepted types of events. The type is also written as the event's name, so it must not contain a line end. */
const TYPE = /^[\w.-]{1,64}$/;

/** Types of events that announce a response and carry no content. */
const HEADS: ReadonlySet<unknown> = new Set([
  'response.created',
  'response.queued',
  'response.in_progress',
]);

/**
 * Relays the events of an upstream with the Responses API, unchanged except for events that carry the whole response. Holds
 * back the last event, and keeps the finished output items.
 */
export class RelayedResponse implements ResponseEvents {
  readonly #events: EventReader;
  readonly #dress: ResponsesCall['dress'];
  #first: Uint8Array | undefined;
  #response: Json = {};
  readonly #items: Json[] = [];
  #usage: TokenUsage | null = null;
  /** Note on the latest response, under the upstream's names. */
  #note: AnswerNote = {};
  #answerChars = 0;
  #sequence = 0;
  #hasContent = false;
  #isWhole = false;
  /** Error that `next` throws after the events before it were read. */
  #broken: StreamBroken | undefined;

  constructor(answer: OpenedAnswer, dress: ResponsesCall['dress']) {
    this.#events = new EventReader(answer);
    this.#dress = dress;
  }

  /**
   * Resolves when content of the answer has arrived. Throws when the upstream breaks or fails before that and has delivered
   * nothing.
   */
  async begin(): Promise<void> {
    const heads: Uint8Array[] = [];
    while (!this.#hasContent && !this.#isWhole) {
      const piece = await this.next();
      if (piece !== undefined) heads.push(piece);
    }
    if (!this.#hasContent && this.#response.status === 'failed') {
      throw new ReportedError(this.#response.error);
    }
    if (heads.length > 0) this.#first = Buffer.concat(heads);
  }

  async next(): Promise<Uint8Array | undefined> {
    const first = this.#first;
    this.#first = undefined;
    if (first !== undefined) return first;
    for (;;) {
      if (this.#broken !== undefined) throw this.#broken;
      if (this.#events.isOver) return undefined;
      const events = await this.#events.read();
      if (events === undefined) throw new StreamBroken('it ended before its end');
      const relayed = await this.#sift(events);
      if (relayed.length > 0) return Buffer.concat(relayed);
    }
  }

  metered() {
    return { usage: this.#usage, answerChars: this.#answerChars, note: () => this.#note };
  }

  response(): Json {
    return this.#isWhole ? this.#response : { ...this.#response, output: [...this.#items] };
  }

  sequence(): number {
    return this.#sequence;
  }

  stop(): void {
    this.#events.stop();
  }

  /** Returns the bytes to relay: the name and the data of each event. */
  async #sift(events: readonly Buffer[]): Promise<Buffer[]> {
    const relayed: Buffer[] = [];
    for (const event of events) {
      const delta = readPlainDelta(event);
      if (delta !== undefined) {
        this.#hasContent = true;
        this.#answerChars += delta.chars;
        this.#sequence = delta.sequence + 1;
        relayed.push(nameLine(delta.type), event);
        continue;
      }
      const data = await readData(event);
      if (!isObject(data) || typeof data.type !== 'string') {
        // A keep-alive comment has no data.
        if (event[0] === COLON) relayed.push(event);
        continue;
      }
      const bytes = this.#take(data as Json & { readonly type: string }, event);
      if (bytes === undefined) break;
      relayed.push(...bytes);
    }
    return relayed;
  }

  /** Returns the bytes of an event to relay. Undefined: the event was the last, or the stream is broken. */
  #take(data: Json & { readonly type: string }, event: Buffer): Buffer[] | undefined {
    const { response, type } = data;
    if (!TYPE.test(type)) return this.#breakOff(new StreamBroken('the type of an event is none'));
    if (type === 'error') return this.#breakOff(new ReportedError(errorIn(data)));
    const isLast = LAST.has(type) && isObject(response);
    if (typeof data.sequence_number === 'number') {
      // The last event is held back, so its number is the next one.
      this.#sequence = data.sequence_number + (isLast ? 0 : 1);
    }
    if (isObject(response)) {
      this.#note = responseNote(response);
      this.#dress(response);
      this.#response = response;
      this.#usage = readResponseUsage(response.usage) ?? this.#usage;
      if (isLast) {
        this.#isWhole = true;
        this.#events.finish();
        return undefined;
      }
      return [Buffer.from(writeEvent({ ...data, response: this.#response }))];
    }
    // Keep-alive events are no content.
    this.#hasContent ||= type.startsWith('response.') && !HEADS.has(type);
    if (typeof data.delta === 'string') this.#answerChars += data.delta.length;
    if (type === 'response.output_item.done' && isObject(data.item)) this.#items.push(data.item);
    return [nameLine(type), event];
  }

  #breakOff(broken: StreamBroken): undefined {
    this.#broken = broken;
    this.stop();
  }
}

const COLON = 0x3a;

/** Returns the error of an event. It is the member `error`, or the event itself. */
const errorIn = ({ code, error, message, param }: Json): Json =>
  isObject(error) ? error : { code, message, param };

/** Prepared `event:` lines of the types that come by the thousand. */
const NAME_LINES = new Map(
  ['response.output_text.delta', 'response.function_call_arguments.delta'].map((type) => [
    type,
    Buffer.from(`event: ${type}\n`),
  ]),
);

const nameLine = (type: string): Buffer => NAME_LINES.get(type) ?? Buffer.from(`event: ${type}\n`);
