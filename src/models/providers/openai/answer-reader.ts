import type { OpenedAnswer } from '../open-answer.ts';

/** Thrown when a stream breaks off before its end. */
export class StreamBroken extends Error {
  override readonly name = 'StreamBroken';
}

/** Reads an opened answer piece by piece, until its end, a break, `finish` or `stop`. */
export class AnswerReader {
  readonly #answer: OpenedAnswer;
  readonly #source: AsyncIterator<Uint8Array>;
  #isOver = false;

  constructor(answer: OpenedAnswer) {
    this.#answer = answer;
    this.#source = answer.body[Symbol.asyncIterator]();
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Returns the next piece; undefined at the end. Throws StreamBroken when the connection breaks. */
  async read(): Promise<Buffer | undefined> {
    let piece: Uint8Array | undefined;
    try {
      const next = await this.#source.next();
      piece = next.done === true ? undefined : next.value;
    } catch (error) {
      this.#isOver = true;
      if (error instanceof StreamBroken) throw error;
      throw new StreamBroken('it broke off', { cause: error });
    }
    if (piece !== undefined) return Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    this.#isOver = true;
    return undefined;
  }

  /** Marks the answer as read. The connection is left to end by itself, so that it can serve another request. */
  finish(): void {
    this.#isOver = true;
  }

  /** Stops reading and aborts the upstream request. Has no effect after the end. */
  stop(): void {
    this.#isOver = true;
    this.#answer.stop();
  }
}
