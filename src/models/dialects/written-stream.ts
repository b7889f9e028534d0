import { turnForLongWork } from '../../kernel/long-work.ts';
import type { ChatStream } from '../providers/chat-rail.ts';
import { StreamBroken } from '../providers/openai/answer-reader.ts';
import type { AnswerEvent, AnswerSource, AnswerWriter } from './answer-event.ts';

/**
 * Answer of an upstream, written in another dialect while it arrives. When the answer breaks, the events of its delivered part
 * are sent first: their content is charged.
 */
export class WrittenStream implements ChatStream {
  /** Events of the answer, for a reader that would parse what is written here. */
  readonly source: AnswerSource;
  readonly #writer: AnswerWriter;
  #isOver = false;
  /** Error that `next` throws after the events before it were read. */
  #broken: StreamBroken | undefined;

  constructor(source: AnswerSource, writer: AnswerWriter) {
    this.source = source;
    this.#writer = writer;
  }

  async next(): Promise<Uint8Array | undefined> {
    if (this.#writer.hasMore === true) {
      await turnForLongWork();
      return Buffer.from(this.#writer.take());
    }
    while (!this.#isOver) {
      try {
        if (!(await this.source.read(this.#tell))) this.#finish();
      } catch (cause) {
        this.#breakOff(cause);
      }
      const events = this.#writer.take();
      if (events !== '') return Buffer.from(events);
    }
    if (this.#broken !== undefined) throw this.#broken;
    return undefined;
  }

  metered() {
    return this.source.metered();
  }

  stop(): void {
    this.#isOver = true;
    this.source.stop();
  }

  #finish(): void {
    this.#isOver = true;
    this.#writer.finish(this.metered());
  }

  #breakOff(cause: unknown): void {
    this.stop();
    this.#broken =
      cause instanceof StreamBroken
        ? cause
        : new StreamBroken('a delta cannot be added to the answer', { cause });
  }

  readonly #tell = (event: AnswerEvent): void => this.#writer.write(event);
}
