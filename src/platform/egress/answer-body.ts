import { EGRESS_LIMITS } from './limits.ts';

type Waiter = {
  resolve(result: IteratorResult<Uint8Array, undefined>): void;
  reject(error: Error): void;
};

/** Signals from the reader of a body to its source. */
export interface BodySource {
  /** Called when the queue has space again. */
  resume(): void;
  /** Called when the reader stops reading. */
  abandon(): void;
}

const DONE = { done: true, value: undefined } as const;

/** Buffer of waiting bytes: one chunk as received, or several small chunks that were copied together. */
type Held = { readonly buffer: Uint8Array; used: number };

/** Size below which chunks are copied together: a small chunk of its own takes more memory than it has bytes. */
const SMALL_BYTES = 2_048;
const GATHERED_BYTES = 4_096;

/** Body of an answer, from a socket to one reader: a bounded queue that reports when the socket must wait. */
export class AnswerBody implements AsyncIterable<Uint8Array> {
  readonly #source: BodySource;
  readonly #held: Held[] = [];
  #bytes = 0;
  #ended = false;
  #error: Error | undefined;
  #waiter: Waiter | undefined;
  #isFull = false;
  #isRead = false;

  constructor(source: BodySource) {
    this.#source = source;
  }

  /** Adds a chunk. Returns false when the source must stop until it is resumed; chunks that come all the same are kept. */
  push(chunk: Uint8Array): boolean {
    const waiter = this.#waiter;
    if (waiter !== undefined) {
      this.#waiter = undefined;
      waiter.resolve({ done: false, value: chunk });
      return true;
    }
    this.#keep(chunk);
    this.#bytes += chunk.byteLength;
    this.#isFull ||= this.#bytes >= EGRESS_LIMITS.response.queueBytes;
    return !this.#isFull;
  }

  end(): void {
    this.#ended = true;
    this.#waiter?.resolve(DONE);
    this.#waiter = undefined;
  }

  /** Ends the body with an error. The reader gets the bytes that came before, then the error. */
  fail(error: Error): void {
    this.#error ??= error;
    this.#waiter?.reject(this.#error);
    this.#waiter = undefined;
  }

  /** Returns true when the source waits for the reader, false when the reader may have to wait for the source. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /**
   * Returns the iterator of the only reader; throws when the body is read a second time. Leaving the loop early abandons the
   * unread part.
   */
  [Symbol.asyncIterator](): AsyncIterator<Uint8Array, undefined> {
    if (this.#isRead) throw new Error('a body is read once');
    this.#isRead = true;
    return {
      next: () => this.#next(),
      return: async () => {
        this.abandon();
        return DONE;
      },
    };
  }

  /** Returns the whole body as its one reading. Undefined when the body has not ended well yet, or is being read. */
  whole(): Uint8Array | undefined {
    if (!this.#ended || this.#error !== undefined || this.#isRead) return undefined;
    this.#isRead = true;
    const held = this.#held.splice(0).map(({ buffer, used }) => buffer.subarray(0, used));
    this.#bytes = 0;
    return held.length === 1 ? held[0] : Buffer.concat(held);
  }

  abandon(): void {
    this.#isRead = true;
    this.#held.length = 0;
    if (!this.#ended) this.#source.abandon();
  }

  #keep(chunk: Uint8Array): void {
    if (chunk.byteLength >= SMALL_BYTES) {
      this.#held.push({ buffer: chunk, used: chunk.byteLength });
      return;
    }
    let last = this.#held.at(-1);
    if (last === undefined || last.buffer.byteLength - last.used < chunk.byteLength) {
      last = { buffer: new Uint8Array(GATHERED_BYTES), used: 0 };
      this.#held.push(last);
    }
    last.buffer.set(chunk, last.used);
    last.used += chunk.byteLength;
  }

  #next(): Promise<IteratorResult<Uint8Array, undefined>> {
    const held = this.#held.shift();
    if (held !== undefined) {
      this.#bytes -= held.used;
      if (this.#isFull && this.#held.length === 0) {
        this.#isFull = false;
        this.#source.resume();
      }
      return Promise.resolve({ done: false, value: held.buffer.subarray(0, held.used) });
    }
    if (this.#error !== undefined) return Promise.reject(this.#error);
    if (this.#ended) return Promise.resolve(DONE);
    return new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject };
    });
  }
}
