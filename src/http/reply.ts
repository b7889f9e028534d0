import type { HttpResponse } from 'uWebSockets.js';
import { STATUS_CODES } from 'node:http';
import type { Clock } from '../kernel/clock.ts';
import { LIMITS } from '../kernel/limits.ts';
import type { StopSignal } from '../kernel/stop-signal.ts';
import { type Answer, type HeaderLine, isStream } from './answer.ts';
import { LeaveSignal } from './leave-signal.ts';

const STATUS_LINES = new Map(
  Object.entries(STATUS_CODES).map(([code, text]) => [Number(code), `${code} ${text}`]),
);

export type SendOptions = {
  /** What goes before the answer's own headers. */
  readonly lead: readonly (readonly HeaderLine[])[];
  /** The answer to a HEAD: the same head, the length told, nothing sent. */
  readonly headOnly: boolean;
  readonly closeConnection: boolean;
};

/**
 * The one way to answer. A reply is written once and whole, or not at all when the client has gone:
 * every further call does nothing, since touching a finished response throws inside the library.
 */
export class Reply {
  readonly #res: HttpResponse;
  readonly #clock: Clock;
  readonly #left = new LeaveSignal();
  #isOpen = true;

  /** Registers the abort handler first: without it any throw would end the process. */
  constructor(res: HttpResponse, clock: Clock) {
    res.onAborted(() => this.#leave());
    this.#res = res;
    this.#clock = clock;
  }

  /** False as soon as the answer was finished or the client went away. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Fires when the client goes away before its answer is done. */
  get signal(): StopSignal {
    return this.#left;
  }

  /** The peer as the socket spells it. Asked for late, because the answer is costly and seldom needed. */
  remoteAddress(): string {
    if (!this.#isOpen) return 'unknown';
    return Buffer.from(this.#res.getRemoteAddressAsText()).toString('latin1');
  }

  /** Calls back when the client goes away; at once if it already has. */
  onGone(callback: () => void): void {
    if (this.#left.aborted) callback();
    else this.#left.addEventListener('abort', callback);
  }

  /** Undefined when the answer went out at once; a stream settles when it is over, and rejects as it does. */
  send(answer: Answer, options: SendOptions): Promise<void> | undefined {
    const { body } = answer;
    if (isStream(body)) return this.#stream(answer, body, options);
    if (this.#isOpen) this.#whole(answer, body, options);
    return undefined;
  }

  /** Runs `work` with the response; used to upgrade. After it the reply is finished. */
  handOver(work: (res: HttpResponse) => void): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    work(this.#res);
  }

  #leave(): void {
    this.#isOpen = false;
    this.#left.fire();
  }

  #whole(answer: Answer, body: string | Uint8Array, options: SendOptions): void {
    this.#isOpen = false;
    const res = this.#res;
    res.cork(() => {
      writeHead(res, answer, options);
      if (options.headOnly) {
        const length = typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength;
        res.endWithoutBody(length, options.closeConnection);
      } else {
        res.end(body, options.closeConnection);
      }
    });
  }

  async #stream(
    answer: Answer,
    body: AsyncIterable<Uint8Array>,
    options: SendOptions,
  ): Promise<void> {
    const source = body[Symbol.asyncIterator]();
    if (!this.#isOpen || options.headOnly) {
      await abandon(source);
      if (this.#isOpen) this.#whole(answer, '', options);
      return;
    }
    const res = this.#res;
    let isBegun = false;
    // No client can read a head before the body begins, since the library ends it only then: they are one write.
    const write: Write = (work) => {
      res.cork(() => {
        if (!isBegun) writeHead(res, answer, options);
        isBegun = true;
        work();
      });
    };
    await pump(source, { res, write, reply: this, clock: this.#clock });
    if (!this.#isOpen) return;
    this.#isOpen = false;
    write(() => res.end(undefined, options.closeConnection));
  }
}

/** Does its work on the response in one write, behind the head where that has not gone out. */
type Write = (work: () => void) => void;

const NO_LINES: readonly HeaderLine[] = [];

function writeHead(res: HttpResponse, answer: Answer, { lead }: SendOptions): void {
  res.writeStatus(STATUS_LINES.get(answer.status) ?? `${answer.status} Status`);
  for (const lines of lead) {
    for (const line of lines) res.writeHeader(line[0], line[1]);
  }
  for (const name in answer.headers) res.writeHeader(name, answer.headers[name] as string);
  for (const line of answer.lines ?? NO_LINES) res.writeHeader(line[0], line[1]);
}

const abandon = async (source: AsyncIterator<Uint8Array>): Promise<void> => {
  try {
    await source.return?.();
  } catch {
    // The source is being thrown away; its own failure to stop has no one left to tell.
  }
};

/**
 * Moves chunks to the socket, one at a time: the next one is asked for only when the client has taken
 * the last. A source that fails, or a reader that stalls, breaks the connection, so that a cut answer
 * never reads as a whole one.
 */
async function pump(
  source: AsyncIterator<Uint8Array>,
  sink: {
    readonly res: HttpResponse;
    readonly write: Write;
    readonly reply: Reply;
    readonly clock: Clock;
  },
): Promise<void> {
  const { res, write, reply, clock } = sink;
  // One place for whoever waits now: racing a long-lived promise would pile up a reaction per chunk.
  let onLeft = () => {};
  let onWritable = () => {};
  reply.onGone(() => onLeft());
  res.onWritable(() => {
    onWritable();
    return true;
  });

  const nextChunk = () =>
    new Promise<IteratorResult<Uint8Array> | undefined>((resolve, reject) => {
      onLeft = () => resolve(undefined);
      source.next().then(resolve, reject);
    });
  const readerCaughtUp = () =>
    new Promise<boolean>((resolve) => {
      const stall = clock.setTimeout(() => settle(false), LIMITS.streamStallMs);
      const settle = (caughtUp: boolean) => {
        clock.clearTimeout(stall);
        resolve(caughtUp);
      };
      onLeft = () => settle(true);
      onWritable = () => settle(true);
    });

  try {
    while (reply.isOpen) {
      const next = await nextChunk();
      if (!reply.isOpen || next === undefined || next.done === true) return;
      // An empty chunk would end a chunked body.
      if (next.value.byteLength === 0) continue;

      let taken = true;
      write(() => {
        taken = res.write(next.value);
      });
      if (!taken && !(await readerCaughtUp())) {
        res.close();
        return;
      }
    }
  } catch (error) {
    if (reply.isOpen) res.close();
    throw error;
  } finally {
    void abandon(source);
  }
}
