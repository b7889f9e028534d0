import type { OpenedAnswer } from './open-answer.ts';
import { SseEvents } from './sse-events.ts';

/** The stream ended before its end. */
export class StreamBroken extends Error {
  override readonly name = 'StreamBroken';
}

/** Reads an opened answer as server-sent events, byte for byte. */
export class EventReader {
  readonly #answer: OpenedAnswer;
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #events = new SseEvents();

  constructor(answer: OpenedAnswer) {
    this.#answer = answer;
    this.#source = answer.body[Symbol.asyncIterator]();
  }

  /** The events that the next piece completes, which may be none. Undefined: it has ended. Throws StreamBroken. */
  async read(): Promise<Buffer[] | undefined> {
    const piece = await this.#next();
    if (piece === undefined) return undefined;
    try {
      return this.#events.push(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength));
    } catch (error) {
      this.stop();
      throw new StreamBroken('an event is too large', { cause: error });
    }
  }

  stop(): void {
    this.#answer.stop();
  }

  async #next(): Promise<Uint8Array | undefined> {
    try {
      const next = await this.#source.next();
      return next.done === true ? undefined : next.value;
    } catch (error) {
      throw new StreamBroken('it broke off', { cause: error });
    }
  }
}
