import type {
  Fetch,
  FetchRequest,
  FetchStream,
  OutboundResponse,
} from '../../src/platform/egress/fetch.ts';

/** What a peer answers to one request: a status with JSON, or a failure of the network. */
export type PeerAnswer = { readonly status: number; readonly body?: unknown } | Error;

/** A door to the network behind which a peer answers from a list, one after the other. */
export function recordedFetch(...answers: readonly PeerAnswer[]): {
  readonly fetch: Fetch;
  /** The same, piece by piece. */
  readonly fetchStream: FetchStream;
  readonly requests: readonly FetchRequest[];
} {
  const requests: FetchRequest[] = [];
  const fetch: Fetch = async (request) => {
    const answer = answers[requests.length];
    requests.push(request);
    if (answer === undefined) throw new Error('a request that the test does not expect');
    if (answer instanceof Error) throw answer;
    return responseOf(answer.status, answer.body);
  };
  const fetchStream: FetchStream = async (request) => {
    const { body, ...head } = await fetch(request);
    return { ...head, body: piecesOf(body) };
  };
  return { fetch, fetchStream, requests };
}

async function* piecesOf(body: Uint8Array): AsyncGenerator<Uint8Array> {
  yield body;
}

/** All of what is streamed. */
export async function wholeOf(pieces: AsyncIterable<Uint8Array> | undefined): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces ?? []) all.push(piece);
  return Buffer.concat(all);
}

function responseOf(status: number, body: unknown): OutboundResponse {
  const text = typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body);
  return { status, headers: { 'content-type': 'application/json' }, body: Buffer.from(text) };
}
