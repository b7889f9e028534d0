import { DeepgramClient } from '@deepgram/sdk';
import { fetch } from 'undici';

export type DeepgramTarget = {
  readonly url: string;
  /** An agent's key, or undefined where a token stands for it. */
  readonly apiKey?: string;
  readonly accessToken?: string;
};

/**
 * The vendor's own client, unmodified, pointed at a server, without its own repeats. Its `fetch` is undici's: the server in
 * this process loads undici, whose dispatcher Node's `fetch` may get then, and with that one Node's `fetch` refuses the
 * Content-Length that this client sets.
 */
export function deepgramAt({ accessToken, apiKey, url }: DeepgramTarget): DeepgramClient {
  const wsUrl = url.replace(/^http/, 'ws');
  const environment = { base: url, production: wsUrl, agent: wsUrl, agentRest: url };
  return new DeepgramClient({
    environment,
    maxRetries: 0,
    fetch: fetch as unknown as typeof globalThis.fetch,
    ...(apiKey !== undefined && { apiKey }),
    ...(accessToken !== undefined && { accessToken }),
  });
}

export type Refused = {
  readonly statusCode?: number;
  readonly body?: unknown;
};

/** What a call of the client was refused with. Throws where it was not. */
export async function refusedWith(call: PromiseLike<unknown>): Promise<Refused> {
  try {
    await call;
  } catch (error) {
    return error as Refused;
  }
  throw new Error('this was not refused');
}
