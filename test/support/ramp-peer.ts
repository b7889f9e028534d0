import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { decodeProtectedHeader, jwtVerify } from 'jose';
import { listenOnLoopback } from './listen-on-loopback.ts';

/** A key as the provider hands it out, and the public half that the provider keeps. */
export type PeerKey = {
  readonly id: string;
  readonly secret: string;
  readonly publicKey: KeyObject;
};

/** A key of Ed25519: 64 bytes in base64, the seed before the public key. */
export function edwardsKey(): PeerKey {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const { d = '', x = '' } = privateKey.export({ format: 'jwk' });
  const secret = Buffer.concat([Buffer.from(d, 'base64url'), Buffer.from(x, 'base64url')]);
  return { id: 'organizations/o/apiKeys/ed', secret: secret.toString('base64'), publicKey };
}

/** A key of P-256 in the older PEM form, its line breaks written out as environments have them. */
export function curveKey(): PeerKey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = privateKey.export({ format: 'pem', type: 'sec1' }).toString();
  return { id: 'organizations/o/apiKeys/ec', secret: pem.replaceAll('\n', '\\n'), publicKey };
}

/** One sale as the provider lists it. */
export type PeerSale = Readonly<Record<string, unknown>>;

export type RampPeer = AsyncDisposable & {
  readonly origin: string;
  /** What came with a good credential. */
  readonly seen: { readonly path: string; readonly body: unknown }[];
  /** Why each bad request was refused. */
  readonly refused: string[];
  /** Sales by the reference of their order, newest first. */
  readonly sales: Map<string, readonly PeerSale[]>;
  /** Answers every request like this, whatever its credential. Undefined: as the provider does. */
  answer: { readonly status: number; readonly text: string } | undefined;
};

class Refused extends Error {
  readonly status: number;
  constructor(status: number, why: string) {
    super(why);
    this.status = status;
  }
}

const CREDENTIAL_SECONDS = 120;
const REF_CHARS = 50;

/** The provider of the on- and off-ramp. It refuses each credential and each body that the real one refuses. */
export async function startRampPeer(key: PeerKey): Promise<RampPeer> {
  const nonces = new Set<string>();
  const server = createServer((request, response) => {
    void (async () => {
      const text = await textOf(request);
      if (peer.answer !== undefined) {
        response.writeHead(peer.answer.status).end(peer.answer.text);
        return;
      }
      try {
        await verify(request, key, nonces);
        const body = text === '' ? undefined : JSON.parse(text);
        const path = new URL(request.url ?? '', 'http://peer').pathname;
        const answer = answerTo(request.method ?? '', path, body, peer.sales);
        peer.seen.push({ path, body });
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify(answer));
      } catch (error) {
        const { message } = error as Error;
        peer.refused.push(message);
        response.writeHead(error instanceof Refused ? error.status : 401).end(message);
      }
    })();
  });
  const { baseUrl, ...closing } = await listenOnLoopback(server);
  const peer: RampPeer = {
    ...closing,
    origin: new URL(baseUrl).origin,
    seen: [],
    refused: [],
    sales: new Map(),
    answer: undefined,
  };
  return peer;
}

/** Throws unless the credential is signed by the key, is fresh and short, was never seen, and names this very request. */
async function verify(request: IncomingMessage, key: PeerKey, nonces: Set<string>): Promise<void> {
  const [scheme, token = ''] = (request.headers.authorization ?? '').split(' ');
  if (scheme !== 'Bearer') throw new Refused(401, 'no credential');
  const { kid, nonce, typ } = decodeProtectedHeader(token) as Record<string, unknown>;
  if (kid !== key.id || typ !== 'JWT') throw new Refused(401, 'another key');
  const { payload } = await jwtVerify(token, key.publicKey, {
    algorithms: ['EdDSA', 'ES256'],
    issuer: 'cdp',
    subject: key.id,
    requiredClaims: ['iat', 'nbf', 'exp', 'uris'],
  });
  const { exp = 0, iat = 0, nbf = 0 } = payload;
  if (exp - Math.min(iat, nbf) > CREDENTIAL_SECONDS) throw new Refused(401, 'valid for too long');
  if (typeof nonce !== 'string' || !/^[0-9a-f]{16,}$/.test(nonce)) {
    throw new Refused(401, 'no nonce');
  }
  if (nonces.has(nonce)) throw new Refused(401, 'nonce replayed');
  nonces.add(nonce);
  const path = (request.url ?? '').split('?', 1)[0];
  const uri = `${request.method} ${request.headers.host}${path}`;
  if (!Array.isArray(payload.uris) || !payload.uris.includes(uri)) {
    throw new Refused(401, `for another request than ${uri}`);
  }
}

function answerTo(
  method: string,
  path: string,
  body: unknown,
  sales: ReadonlyMap<string, readonly PeerSale[]>,
): unknown {
  if (method === 'POST' && path === '/onramp/v1/token') return tokenFor(body);
  const ref = /^\/onramp\/v1\/sell\/user\/([^/]+)\/transactions$/.exec(path)?.[1];
  if (method !== 'GET' || ref === undefined) throw new Refused(404, `no ${method} ${path}`);
  if (ref.length >= REF_CHARS) throw new Refused(400, 'partnerUserRef too long');
  const transactions = sales.get(decodeURIComponent(ref)) ?? [];
  return { transactions, next_page_key: '', total_count: String(transactions.length) };
}

let tokens = 0;

function tokenFor(body: unknown): unknown {
  const { addresses, clientIp } = (body ?? {}) as Record<string, unknown>;
  if (typeof clientIp !== 'string' || isIP(clientIp) === 0) {
    throw new Refused(400, 'clientIp missing');
  }
  const [first] = Array.isArray(addresses) ? addresses : [];
  const { address, blockchains } = (first ?? {}) as Record<string, unknown>;
  if (typeof address !== 'string' || !/^0x[0-9a-f]{40}$/i.test(address)) {
    throw new Refused(400, 'address missing');
  }
  if (!Array.isArray(blockchains) || blockchains.length === 0) {
    throw new Refused(400, 'blockchains missing');
  }
  return { token: `token-${++tokens}`, channel_id: '' };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
