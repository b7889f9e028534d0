import type { CheckedDestination } from '../../../src/platform/egress/destination-guard.ts';
import type { GuardedAnswer } from '../../../src/platform/egress/exchange.ts';
import { OPERATOR } from '../../../src/platform/egress/fair-shares.ts';
import type { GuardedClient, GuardedRequest } from '../../../src/platform/egress/guarded-client.ts';

export type ScriptedAnswer = {
  readonly status?: number;
  readonly headers?: readonly (readonly [string, string])[];
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array>;
};

/** A vendor's answer that knows whether it was given up, and how much of its body was read. */
export type FakeAnswer = GuardedAnswer & { isDiscarded: boolean; readBytes: number };

export function fakeAnswer({ status = 200, headers = [], body = '' }: ScriptedAnswer): FakeAnswer {
  const answer: FakeAnswer = {
    status,
    headers,
    isDiscarded: false,
    readBytes: 0,
    body: counted(),
    whole: () => undefined,
    discard: () => {
      answer.isDiscarded = true;
    },
  };
  async function* counted(): AsyncGenerator<Uint8Array> {
    const source = typeof body === 'string' ? [Buffer.from(body)] : body;
    for await (const chunk of source instanceof Uint8Array ? [source] : source) {
      answer.readBytes += chunk.byteLength;
      yield chunk;
    }
  }
  return answer;
}

export type Sent = { readonly destination: CheckedDestination; readonly request: GuardedRequest };

/** A client for vendors without a network: it records what is sent, and answers as the test says. */
export function scriptedClient(script: {
  readonly open?: (url: string) => Promise<CheckedDestination> | CheckedDestination;
  readonly send?: (sent: Sent) => Promise<GuardedAnswer> | GuardedAnswer;
}) {
  const opened: string[] = [];
  const sent: Sent[] = [];
  const client: Pick<GuardedClient, 'open' | 'send'> = {
    async open(url) {
      opened.push(url);
      return script.open === undefined ? placeOf(url) : script.open(url);
    },
    async send(destination, request) {
      sent.push({ destination, request });
      return script.send === undefined ? fakeAnswer({}) : script.send({ destination, request });
    },
  };
  return { client, opened, sent };
}

/** A URL as the guard would admit it. */
export function placeOf(url: string): CheckedDestination {
  const { href, origin, hostname } = new URL(url);
  return { url: href, origin, host: hostname, addresses: ['192.0.2.1'], asker: OPERATOR };
}
