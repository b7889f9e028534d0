import type { OpenedAnswer } from '../open-answer.ts';

/** The stream ended before its end. */
export class StreamBroken extends Error {
  override readonly name = 'StreamBroken';
}

/** Reads an opened answer as it comes. What ends it, however that is, ends it once. */
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

  /** No more of it is wanted. The connection is left to end by itself: it may serve another. */
  finish(): void {
    this.#isOver = true;
  }

  /** Stops buying. Harmless when it is over. */
  stop(): void {
    this.#isOver = true;
    this.#answer.stop();
  }
}
