import type { Readable } from 'node:stream';
import { Agent, request } from 'undici';
import { EGRESS_LIMITS } from './limits.ts';

export type FetchRequest = {
  readonly url: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Time for the whole exchange, from the connection to the last byte. */
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
  /**
   * Called with the length of each piece of the answer before the piece is kept. An error of this callback ends the exchange.
   */
  readonly onBytes?: ((bytes: number) => void) | undefined;
  /** Signal that ends the exchange. */
  readonly signal?: AbortSignal | undefined;
};

export type OutboundResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Uint8Array;
};

/** Thrown when the answer has more bytes than the request allows. No part of the answer was kept. */
export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge';
}

/**
 * Makes one outbound exchange and resolves with the whole answer. Rejects on network failure, when time is up, and past the
 * size bound.
 */
export type Fetch = (request: FetchRequest) => Promise<OutboundResponse>;

/** Answer whose body arrives while it is read. */
export type StreamedResponse = Omit<OutboundResponse, 'body'> & {
  /** Body for one reader. Throws AnswerTooLarge past the size bound, and rejects when time is up. */
  readonly body: AsyncIterable<Uint8Array>;
};

/** Makes one outbound exchange and resolves with the head of the answer. */
export type FetchStream = (request: FetchRequest) => Promise<StreamedResponse>;

/** Creates the functions that send outbound requests. They follow no redirect: a redirect is an answer like any other. */
export function createFetch(): {
  readonly fetch: Fetch;
  readonly fetchStream: FetchStream;
  /** Resolves once all exchanges under way are over. */
  close(): Promise<void>;
  /** Ends all exchanges under way, which reject. */
  abort(): Promise<void>;
} {
  const agent = new Agent({ connect: { timeout: EGRESS_LIMITS.connectMs } });

  const fetchStream: FetchStream = async (asked) => {
    const { url, method, headers, body, timeoutMs, maxResponseBytes } = asked;
    const late = AbortSignal.timeout(timeoutMs);
    const answer = await request(url, {
      method,
      headers: headers ?? {},
      body: body ?? null,
      dispatcher: agent,
      signal: asked.signal === undefined ? late : AbortSignal.any([late, asked.signal]),
    });
    const pieces = bounded(answer.body, maxResponseBytes);
    return { status: answer.statusCode, headers: answer.headers, body: pieces };
  };

  const fetch: Fetch = async (asked) => {
    const { body, ...head } = await fetchStream(asked);
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) {
      asked.onBytes?.(chunk.byteLength);
      chunks.push(chunk);
    }
    return { ...head, body: Buffer.concat(chunks) };
  };

  return { fetch, fetchStream, close: () => agent.close(), abort: () => agent.destroy() };
}

/** Returns a body that is read at most to its bound. A reader that leaves frees the connection, also before its first read. */
function bounded(body: Readable, mostBytes: number): AsyncIterable<Uint8Array> {
  // A body that is destroyed reports an error after its reader has left.
  body.on('error', () => {});
  return {
    [Symbol.asyncIterator]() {
      const source = body[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
      let seenBytes = 0;
      const leave = async () => {
        body.destroy();
        return { done: true, value: undefined } as const;
      };
      return {
        async next() {
          const step = await source.next();
          if (step.done) return leave();
          seenBytes += step.value.byteLength;
          if (seenBytes <= mostBytes) return step;
          await leave();
          throw new AnswerTooLarge(`the answer has more than ${mostBytes} bytes`);
        },
        return: leave,
      };
    },
  };
}
