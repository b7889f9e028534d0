import { Agent, request } from 'undici';
import { LIMITS } from '../../kernel/limits.ts';

export type OutboundRequest = {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** For the whole exchange, from the connection to the last byte. */
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
};

export type OutboundResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Uint8Array;
};

/** The answer has more bytes than were asked for; nothing of it was kept. */
export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge';
}

/** One outbound exchange, whole. Rejects on network failure, when time is up, and past the size bound. */
export type Fetch = (request: OutboundRequest) => Promise<OutboundResponse>;

/** The outbound door. Redirects are answers like any other: nothing is ever followed. */
export function createFetch(): { readonly fetch: Fetch; close(): Promise<void> } {
  const agent = new Agent({ connect: { timeout: LIMITS.upstreamConnectMs } });

  const fetch: Fetch = async ({ url, method, headers, body, timeoutMs, maxResponseBytes }) => {
    const answer = await request(url, {
      method,
      headers: headers ?? {},
      body: body ?? null,
      dispatcher: agent,
      signal: AbortSignal.timeout(timeoutMs),
    });
    const chunks: Uint8Array[] = [];
    let seenBytes = 0;
    for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
      seenBytes += chunk.byteLength;
      // Leaving the loop destroys the body, which frees the connection.
      if (seenBytes > maxResponseBytes) {
        throw new AnswerTooLarge(`the answer has more than ${maxResponseBytes} bytes`);
      }
      chunks.push(chunk);
    }
    return { status: answer.statusCode, headers: answer.headers, body: Buffer.concat(chunks) };
  };

  return { fetch, close: () => agent.close() };
}
