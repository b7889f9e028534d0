import type { HttpResponse } from 'uWebSockets.js';
import { STATUS_CODES } from 'node:http';
import type { Clock } from '../../kernel/clock.ts';
import { LightSignal } from '../../kernel/light-signal.ts';
import type { StopSignal } from '../../kernel/stop-signal.ts';
import { HTTP_LIMITS } from '../limits.ts';
import { type HeaderLine, type HttpAnswer, isStream } from '../route/answer.ts';
import { untilParserIsDone } from './request.ts';

const STATUS_LINES = new Map(
  Object.entries(STATUS_CODES).map(([code, text]) => [Number(code), `${code} ${text}`]),
);

export type SendOptions = {
  /** Headers that go before the answer's own. */
  readonly lead: readonly (readonly HeaderLine[])[];
  /** True for the answer to a HEAD: the same head with the length of the body, and no body. */
  readonly headOnly: boolean;
  readonly closeConnection: boolean;
};

/**
 * Writes the answer of one request: once and whole, or not at all when the client has left. Further calls do nothing, since
 * touching a finished response throws inside the library. No connection has more than one answer in memory: an answer that its
 * client does not take stays pending, and the library closes a connection that brings another request behind a pending one.
 */
export class ReplyWriter {
  readonly #res: HttpResponse;
  readonly #clock: Clock;
  readonly #left = new LightSignal();
  #isOpen = true;

  /** Registers the abort handler first: without the handler, any throw would end the process. */
  constructor(res: HttpResponse, clock: Clock) {
    res.onAborted(() => this.#leave());
    this.#res = res;
    this.#clock = clock;
  }

  /** Returns false as soon as the answer was finished or the client went away. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Signal that fires when the client leaves before its answer is done. */
  get signal(): StopSignal {
    return this.#left;
  }

  /** Returns the peer's address as the socket spells it. Call late, because the look-up is costly and seldom needed. */
  remoteAddress(): string {
    if (!this.#isOpen) return 'unknown';
    return Buffer.from(this.#res.getRemoteAddressAsText()).toString('latin1');
  }

  /** Registers a callback for the client's leaving. Calls it at once when the client has left already. */
  onGone(callback: () => void): void {
    if (this.#left.aborted) callback();
    else this.#left.addEventListener('abort', callback);
  }

  /**
   * Sends an answer. Returns undefined when the client took the answer at once; otherwise settles when the client has taken all
   * of it or was cut off. A stream rejects as its source does.
   */
  send(answer: HttpAnswer, options: SendOptions): Promise<void> | undefined {
    const { body } = answer;
    if (isStream(body)) return this.#stream(answer, body, options);
    if (options.headOnly || options.closeConnection) return this.#last(answer, body, options);
    return this.#isOpen ? this.#whole(answer, body, options) : undefined;
  }

  /** Gives the response to `work`, for an upgrade. The reply is finished then. */
  handOver(work: (res: HttpResponse) => void): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    work(this.#res);
  }

  #leave(): void {
    this.#isOpen = false;
    this.#left.fire();
  }

  /** Sends a whole body. Hands the library no more bytes than the client takes: further bytes would pile up in its buffer. */
  #whole(
    answer: HttpAnswer,
    body: string | Uint8Array,
    options: SendOptions,
  ): Promise<void> | undefined {
    const res = this.#res;
    const totalBytes = typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength;
    let isTaken = false;
    res.cork(() => {
      writeHead(res, answer, options);
      isTaken = res.tryEnd(body, totalBytes)[1];
    });
    if (!isTaken) return this.#rest(typeof body === 'string' ? Buffer.from(body) : body);
    this.#isOpen = false;
    return undefined;
  }

  /**
   * Sends the remaining bytes of a body as the client takes them, and cuts off a client that takes nothing for `streamStallMs`.
   */
  #rest(body: Uint8Array): Promise<void> {
    const res = this.#res;
    const clock = this.#clock;
    return new Promise((resolve) => {
      const cutOff = () => res.close();
      let stall = clock.setTimeout(cutOff, HTTP_LIMITS.connection.streamStallMs);
      this.onGone(() => {
        clock.clearTimeout(stall);
        resolve();
      });
      res.onWritable((offset) => {
        clock.clearTimeout(stall);
        let sent = [false, false];
        res.cork(() => {
          sent = res.tryEnd(body.subarray(offset), body.byteLength);
        });
        if (sent[1]) {
          this.#isOpen = false;
          resolve();
        } else {
          stall = clock.setTimeout(cutOff, HTTP_LIMITS.connection.streamStallMs);
        }
        return sent[0] as boolean;
      });
    });
  }

  /**
   * Ends the connection with this answer, after the library has read all that the client has sent so far: while the answer is
   * pending, a request behind it closes the connection unserved. Only `end` can close a connection or state a length without a
   * body, and it buffers a body that the client does not read; so a long body is sent in pieces.
   */
  async #last(answer: HttpAnswer, body: string | Uint8Array, options: SendOptions): Promise<void> {
    await untilParserIsDone();
    if (!options.headOnly && body.length > HTTP_LIMITS.connection.lastPieceBytes) {
      return this.#stream(answer, piecesOf(body), options);
    }
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const res = this.#res;
    res.cork(() => {
      writeHead(res, answer, options);
      if (!options.headOnly) res.end(body, true);
      else res.endWithoutBody(Buffer.byteLength(body), true);
    });
  }

  async #stream(
    answer: HttpAnswer,
    body: AsyncIterable<Uint8Array>,
    options: SendOptions,
  ): Promise<void> {
    const source = body[Symbol.asyncIterator]();
    if (options.closeConnection) await untilParserIsDone();
    if (!this.#isOpen || options.headOnly) {
      await abandon(source);
      if (this.#isOpen) await this.#last(answer, '', options);
      return;
    }
    const res = this.#res;
    const lead = options.closeConnection ? [...options.lead, LAST] : options.lead;
    let isBegun = false;
    // The head and the first piece of the body are one write: the library ends the head only when the body begins.
    const write: Write = (work) => {
      res.cork(() => {
        if (!isBegun) writeHead(res, answer, { lead });
        isBegun = true;
        work();
      });
    };
    await pump(source, { res, write, reply: this, clock: this.#clock });
    if (!this.#isOpen) return;
    this.#isOpen = false;
    write(() => {
      // `end(…, true)` would write a header line into the body. A paused connection brings no further request, and the library
      // closes it after ten seconds without data.
      if (options.closeConnection) res.pause();
      res.end();
    });
  }
}

async function* piecesOf(body: string | Uint8Array): AsyncGenerator<Uint8Array> {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  for (let at = 0; at < bytes.length; at += HTTP_LIMITS.connection.lastPieceBytes) {
    yield bytes.subarray(at, at + HTTP_LIMITS.connection.lastPieceBytes);
  }
}

/** Runs `work` on the response in one write, with the head before it if the head was not sent yet. */
type Write = (work: () => void) => void;

const NO_LINES: readonly HeaderLine[] = [];
/** Header of a connection's last answer. The library writes it itself when it closes the connection. */
const LAST: readonly HeaderLine[] = [['connection', 'close']];

function writeHead(
  res: HttpResponse,
  answer: HttpAnswer,
  { lead }: Pick<SendOptions, 'lead'>,
): void {
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
    // The source was abandoned, so that its failure to stop has no reader.
  }
};

/**
 * Moves chunks to the socket, one at a time: reads the next chunk from the source only when the client has taken the last
 * chunk. A source that fails, or a client that stalls, breaks the connection, so that a cut answer never reads as a whole
 * answer.
 */
async function pump(
  source: AsyncIterator<Uint8Array>,
  sink: {
    readonly res: HttpResponse;
    readonly write: Write;
    readonly reply: ReplyWriter;
    readonly clock: Clock;
  },
): Promise<void> {
  const { res, write, reply, clock } = sink;
  // Callbacks of the current wait only: racing a long-lived promise would add a reaction to it for each chunk.
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
      const stall = clock.setTimeout(() => settle(false), HTTP_LIMITS.connection.streamStallMs);
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
