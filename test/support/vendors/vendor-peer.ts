import { createServer, type IncomingHttpHeaders } from 'node:http';
import { listenOnLoopback } from '../listen-on-loopback.ts';
import { PROTOCOLS } from './protocols.ts';

/** A request as a vendor sees it. */
export type Heard = {
  readonly vendor: string;
  readonly method: string;
  /** Below the vendor's base, with the query. */
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
};

export type Said = {
  readonly status?: number;
  readonly type?: string;
  readonly body: string | Uint8Array;
};

/** How a vendor's API is to be spoken to: a request that is not like that is refused as the vendor would. */
export type Protocol = {
  /** Whether the request carries the vendor's credential, in its own way. */
  readonly isOpened: (heard: Heard) => boolean;
  /** Undefined: there is no such path. Throws where the body is none. */
  readonly answer: (heard: Heard) => Said | undefined | Promise<Said | undefined>;
};

/** What the peer does with the next request, beyond answering it. */
export type Fault =
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly body?: string;
      readonly headers?: Record<string, string>;
    }
  /** Ends the connection in the middle of its answer. */
  | { readonly kind: 'cut' }
  /** Says nothing until the client leaves. */
  | { readonly kind: 'silence' }
  /** Answers well, but only when it is told to. */
  | { readonly kind: 'held'; readonly until: Promise<void> }
  | { readonly kind: 'says'; readonly said: Said };

export type VendorPeer = AsyncDisposable & {
  /** What a server needs to find all vendors here. */
  readonly secret: (name: string) => string | undefined;
  readonly heard: Heard[];
  /** Applied to requests in order, one each. */
  readonly faults: Fault[];
  /** Requests whose client went away before the answer. */
  readonly left: { count: number };
};

export const KEY = 'key-of-the-operator';

/** All vendors of the marketplace on one port of this machine, each below its own name. */
export async function startVendorPeer(): Promise<VendorPeer> {
  const heard: Heard[] = [];
  const faults: Fault[] = [];
  const left = { count: 0 };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const [, , vendor = '', ...path] = (request.url ?? '').split('/');
    const came: Heard = {
      vendor,
      method: request.method ?? '',
      headers: request.headers,
      url: new URL(`http://vendor/${path.join('/')}`),
      body: Buffer.concat(chunks),
    };
    heard.push(came);
    response.on('close', () => {
      if (!response.writableEnded) left.count++;
    });
    const fault = faults.shift();
    if (fault?.kind === 'silence') return;
    if (fault?.kind === 'held') await fault.until;
    if (fault?.kind === 'cut') {
      response.writeHead(200, { 'content-type': 'audio/mpeg', 'content-length': '1000' });
      response.write('ID3 the beginning');
      setImmediate(() => response.destroy());
      return;
    }
    const said = await wordsOf(fault, came);
    const { status = 200, type = 'application/json', body } = said;
    const more = fault?.kind === 'status' ? fault.headers : {};
    response.writeHead(status, { 'content-type': type, ...more });
    response.end(body);
  });
  const { baseUrl, ...peer } = await listenOnLoopback(server);
  return {
    heard,
    faults,
    left,
    secret(name) {
      const vendor = /^VENDOR_(\w+)_BASE_URL$/.exec(name)?.[1]?.toLowerCase();
      return vendor === undefined ? KEY : `${baseUrl}/${vendor}`;
    },
    [Symbol.asyncDispose]: () => peer[Symbol.asyncDispose](),
  };
}

async function wordsOf(fault: Fault | undefined, heard: Heard): Promise<Said> {
  if (fault?.kind === 'says') return fault.said;
  if (fault?.kind === 'status') {
    return {
      status: fault.status,
      body: fault.body ?? `{"error":"told to answer ${fault.status}"}`,
    };
  }
  const protocol = PROTOCOLS[heard.vendor];
  if (protocol === undefined) return { status: 404, body: '{"error":"no such vendor"}' };
  if (!protocol.isOpened(heard)) return { status: 401, body: '{"error":"not opened"}' };
  try {
    return (await protocol.answer(heard)) ?? { status: 404, body: '{"error":"no such path"}' };
  } catch (error) {
    return { status: 400, body: JSON.stringify({ error: String(error) }) };
  }
}
