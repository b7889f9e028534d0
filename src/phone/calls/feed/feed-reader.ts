import { encodeEvent } from './feed-event.ts';

/**
 * Queue of a reader's events that its connection has not taken, up to `mostBytes` bytes. New events displace the oldest, and a
 * `lost` event gives the number of dropped events.
 */
export class FeedReader implements AsyncIterableIterator<Uint8Array> {
  readonly #mostBytes: number;
  readonly #closed: () => void;
  readonly #events: Uint8Array[] = [];
  readonly #seen = new Set<number>();
  #bytes = 0;
  #lost = 0;
  #isOver = false;
  #wake = () => {};

  /** `closed` is called once, when the reader is gone. */
  constructor(mostBytes: number, closed: () => void) {
    this.#mostBytes = mostBytes;
    this.#closed = closed;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get isEmpty(): boolean {
    return this.#events.length === 0;
  }

  /** Notes a turn. False: the reader has it already. */
  takes(seq: number): boolean {
    if (this.#seen.has(seq)) return false;
    this.#seen.add(seq);
    return true;
  }

  push(event: Uint8Array): void {
    if (this.#isOver) return;
    this.#events.push(event);
    this.#bytes += event.byteLength;
    while (this.#bytes > this.#mostBytes && this.#events.length > 1) {
      this.#bytes -= this.#events.shift()?.byteLength ?? 0;
      this.#lost++;
    }
    this.#wake();
  }

  /** Ends the stream after the events that wait in it. */
  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  async next(): Promise<IteratorResult<Uint8Array>> {
    while (this.isEmpty && !this.#isOver) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.isEmpty) return this.return();
    const taken = this.#events.splice(0);
    if (this.#lost > 0) taken.unshift(encodeEvent({ type: 'lost', events: this.#lost }));
    this.#lost = 0;
    this.#bytes = 0;
    return { done: false, value: Buffer.concat(taken) };
  }

  async return(): Promise<IteratorReturnResult<undefined>> {
    this.#events.length = 0;
    this.end();
    this.#closed();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
