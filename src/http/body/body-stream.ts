import type { HttpResponse } from 'uWebSockets.js';
import { turnForLongWork } from '../../kernel/long-work.ts';
import { HTTP_LIMITS } from '../limits.ts';
import { type BodyBudget, BodyShare, type OverBudget } from './body-budget.ts';
import { ReadPace } from './read-pace.ts';

/** Reasons that end a body before its end. */
export type BodyBreak = 'too_large' | OverBudget | 'gone';

export type BodyStream = {
  /**
   * Returns the pieces as they arrive; to be read once. Throws the error that `refusalOf` makes of a break. A reader that
   * leaves early waits until the remaining bytes were read away, so that the client receives the refusal.
   */
  chunks(refusalOf: (how: BodyBreak) => Error): AsyncIterable<Buffer>;
  /** True while bytes of a refused body are still coming, so that the connection cannot carry another request. */
  readonly brokeOff: boolean;
  /** Counts the body's bytes as this caller's from now on. Refuses the body when it exceeds the caller's bound. */
  belongsTo(caller: string): void;
  /** Counts the bytes of the body's decoded forms as held, too. */
  hold(bytes: number): OverBudget | undefined;
  /** Resumes the connection. Call it before the answer is written: after that the response must not be used. */
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
 * Hands a body on piece by piece, and pauses the connection while more than `HTTP_LIMITS.body.streamAheadBytes` wait to be read. Pieces that
 * were handed on still count as held, since the reader keeps its result of them. Must be called before the first await.
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
    belongsTo: (caller) => incoming.belongsTo(caller),
    hold: (bytes) => incoming.hold(bytes),
    letGo: () => incoming.letGo(),
    release: () => incoming.release(),
  };
}

class Incoming {
  brokeOff = false;
  readonly #pace: ReadPace;
  readonly #options: Options;
  #queue: Buffer[] = [];
  #queuedBytes = 0;
  #seenBytes = 0;
  readonly #share: BodyShare;
  #isOver = false;
  #isUnwanted = false;
  #isReleased = false;
  #broken: BodyBreak | undefined;
  #wake = () => {};

  constructor(res: HttpResponse, options: Options) {
    this.#pace = new ReadPace(res);
    this.#options = options;
    this.#share = new BodyShare(options.budget);
  }

  belongsTo(caller: string): void {
    if (this.#broken !== undefined) return;
    const over = this.#share.belongsTo(caller);
    if (over !== undefined) this.break(over);
  }

  hold(bytes: number): OverBudget | undefined {
    return this.#isReleased ? 'overloaded' : this.#share.take(bytes);
  }

  take(chunk: ArrayBuffer, isLast: boolean): void {
    if (this.#isReleased) return;
    if (isLast) this.#pace.lastByteCame();
    this.#seenBytes += chunk.byteLength;
    const over =
      this.#seenBytes > this.#options.limitBytes
        ? 'too_large'
        : this.#broken === undefined && !this.#isUnwanted
          ? this.#share.take(chunk.byteLength)
          : undefined;
    if (over !== undefined) this.break(over);

    if (this.#broken !== undefined || this.#isUnwanted) this.#readAway(chunk.byteLength, isLast);
    else this.#keep(chunk, isLast);
  }

  /** Breaks the body off. The first reason stands, but `gone` replaces any other reason. */
  break(how: BodyBreak): void {
    const isHandedOn = this.#isOver && this.#queuedBytes === 0 && this.#broken === undefined;
    if (how === 'gone') this.#pace.end();
    if (how === 'gone' || this.#broken === undefined) this.#broken = how;
    this.#drop();
    // A handler that has the whole body may go on after its client has left: the bytes count until the handler is done.
    if (!isHandedOn) this.#share.giveBack();
    if (how === 'gone') this.#end();
    else this.#pace.resumeInTurn();
  }

  async *read(refusalOf: (how: BodyBreak) => Error): AsyncGenerator<Buffer> {
    try {
      while (this.#broken === undefined) {
        const chunk = this.#queue.shift();
        if (chunk !== undefined) {
          this.#queuedBytes -= chunk.length;
          // The reader parses in a later turn: in this turn uSockets may go on reading the same socket.
          if (chunk.length > HTTP_LIMITS.body.streamAheadBytes) await turnForLongWork();
          if (this.#broken === undefined) yield chunk;
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
    this.#pace.letGo();
  }

  release(): void {
    this.#isReleased = true;
    this.#pace.end();
    this.#drop();
    this.#share.giveBack();
  }

  #keep(chunk: ArrayBuffer, isLast: boolean): void {
    // The library reuses the chunk's memory when this callback returns.
    if (chunk.byteLength > 0) this.#queue.push(Buffer.from(new Uint8Array(chunk)));
    this.#queuedBytes += chunk.byteLength;
    if (isLast) this.#end();
    else if (this.#queuedBytes > HTTP_LIMITS.body.streamAheadBytes) this.#pace.pause();
    this.#wake();
  }

  /**
   * Reads the remaining bytes of a refused body away, up to `HTTP_LIMITS.body.discardBytes` beyond its limit: a client that is still writing
   * when its connection breaks never reads the refusal.
   */
  #readAway(bytes: number, isLast: boolean): void {
    if (!isLast && this.#seenBytes <= this.#options.limitBytes + HTTP_LIMITS.body.discardBytes) {
      if (bytes > HTTP_LIMITS.body.streamAheadBytes) this.#pace.pause();
      this.#pace.resumeInTurn();
      return;
    }
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

  /** Resolves at the next event. Lets the connection resume in a later turn, since all queued bytes have been read. */
  #change(): Promise<void> {
    this.#pace.resumeInTurn(() => this.#queuedBytes <= HTTP_LIMITS.body.streamAheadBytes);
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  async #untilOver(): Promise<void> {
    this.#drop();
    while (!this.#isOver) await this.#change();
  }
}
