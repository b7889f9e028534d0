import type { HttpResponse } from 'uWebSockets.js';
import { LIMITS } from '../kernel/limits.ts';
import type { BodyBudget } from './body.ts';

/** What can end a body before its end. */
export type BodyBreak = 'too_large' | 'overloaded' | 'gone';

export type BodyStream = {
  /**
   * The pieces as they arrive; to be read once. Throws what `refusalOf` makes of a break. Whoever leaves early
   * waits until the rest was read away, so that the client hears why.
   */
  chunks(refusalOf: (how: BodyBreak) => Error): AsyncIterable<Buffer>;
  /** Bytes of a refused body are still coming, so the connection cannot carry another request. */
  readonly brokeOff: boolean;
  /** To be called before the answer is written, after which nothing of it may be touched. */
  letGo(): void;
  /** Gives the held bytes back to the budget; safe to call more than once. */
  release(): void;
};

type Options = {
  readonly limitBytes: number;
  readonly budget: BodyBudget;
  readonly onGone: (callback: () => void) => void;
};

/**
 * Hands a body on piece by piece. While more than a little of it waits to be read the connection rests. What was
 * handed on still counts as held, since its reader keeps what it made of it. Must be called before the first await.
 */
export function streamBody(res: HttpResponse, options: Options): BodyStream {
  const incoming = new Incoming(res, options);
  options.onGone(() => incoming.break('gone'));
  res.onData((chunk, isLast) => incoming.take(chunk, isLast));
  return {
    chunks: (refusalOf) => incoming.read(refusalOf),
    get brokeOff() {
      return incoming.brokeOff;
    },
    letGo: () => incoming.letGo(),
    release: () => incoming.release(),
  };
}

class Incoming {
  brokeOff = false;
  readonly #res: HttpResponse;
  readonly #options: Options;
  #queue: Buffer[] = [];
  #queuedBytes = 0;
  #seenBytes = 0;
  #heldBytes = 0;
  #isOver = false;
  #isUnwanted = false;
  #isPaused = false;
  #isReleased = false;
  #broken: BodyBreak | undefined;
  #wake = () => {};

  constructor(res: HttpResponse, options: Options) {
    this.#res = res;
    this.#options = options;
  }

  take(chunk: ArrayBuffer, isLast: boolean): void {
    if (this.#isReleased) return;
    const { limitBytes, budget } = this.#options;
    this.#seenBytes += chunk.byteLength;
    if (this.#seenBytes > limitBytes) this.break('too_large');
    else if (budget.heldBytes + chunk.byteLength > budget.maxBytes) this.break('overloaded');

    if (this.#broken !== undefined || this.#isUnwanted) this.#readAway(isLast);
    else this.#keep(chunk, isLast);
  }

  /** The first reason stands, but a client that has left hears none. */
  break(how: BodyBreak): void {
    if (how === 'gone') this.#isPaused = false;
    if (how === 'gone' || this.#broken === undefined) this.#broken = how;
    this.#drop();
    this.#giveBack();
    if (how === 'gone') this.#end();
    else this.#resume();
  }

  async *read(refusalOf: (how: BodyBreak) => Error): AsyncGenerator<Buffer> {
    try {
      while (this.#broken === undefined) {
        const chunk = this.#queue.shift();
        if (chunk !== undefined) {
          this.#queuedBytes -= chunk.length;
          yield chunk;
        } else if (this.#isOver) return;
        else await this.#change();
      }
    } finally {
      this.#isUnwanted = true;
      await this.#untilOver();
    }
    throw refusalOf(this.#broken);
  }

  letGo(): void {
    this.#isReleased = true;
    this.#resume();
  }

  release(): void {
    this.#isReleased = true;
    this.#drop();
    this.#giveBack();
  }

  #keep(chunk: ArrayBuffer, isLast: boolean): void {
    // The chunk's memory is taken back when this callback returns.
    if (chunk.byteLength > 0) this.#queue.push(Buffer.from(new Uint8Array(chunk)));
    this.#queuedBytes += chunk.byteLength;
    this.#heldBytes += chunk.byteLength;
    this.#options.budget.heldBytes += chunk.byteLength;
    if (isLast) this.#end();
    else if (this.#queuedBytes > LIMITS.bodyStreamAheadBytes) this.#pause();
    this.#wake();
  }

  /** A client that is still writing when its connection breaks never reads why: so far, and no further. */
  #readAway(isLast: boolean): void {
    if (!isLast && this.#seenBytes <= this.#options.limitBytes + LIMITS.bodyDiscardBytes) return;
    this.brokeOff = !isLast;
    this.#end();
  }

  #end(): void {
    this.#isOver = true;
    this.#wake();
  }

  #drop(): void {
    this.#queue = [];
    this.#queuedBytes = 0;
  }

  #giveBack(): void {
    this.#options.budget.heldBytes -= this.#heldBytes;
    this.#heldBytes = 0;
  }

  #pause(): void {
    if (!this.#isPaused) this.#res.pause();
    this.#isPaused = true;
  }

  #resume(): void {
    if (this.#isPaused) this.#res.resume();
    this.#isPaused = false;
  }

  /** Waits for the next event. The connection rests no longer: whatever was queued has been read. */
  #change(): Promise<void> {
    this.#resume();
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  async #untilOver(): Promise<void> {
    this.#drop();
    while (!this.#isOver) await this.#change();
  }
}
