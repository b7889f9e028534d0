import { createHash, createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import type { ProviderSettings } from '../../src/accounts/wallets/wallet-provider.ts';

/** What the provider does with the next request that it would have granted. */
type Fault =
  | { readonly kind: 'status'; readonly status: number; readonly body?: unknown }
  | { readonly kind: 'text'; readonly text: string }
  /** Does what it is asked, and drops the connection instead of saying so. */
  | { readonly kind: 'mute' }
  /** Says nothing until the client leaves. */
  | { readonly kind: 'silence' }
  /** Signs, or answers, with the wallet of this id. */
  | { readonly kind: 'other wallet'; readonly externalId: string }
  /** Bends the signature that it answers. */
  | { readonly kind: 'signature'; readonly bend: (hex: string) => string };

type Wallet = {
  readonly id: string;
  readonly external_id: string;
  readonly chain_type: 'ethereum';
  readonly address: string;
};

export type FakeWalletProvider = AsyncDisposable & {
  /** With which the server under test is granted everything. */
  readonly settings: ProviderSettings;
  /** As the environment spells it. */
  readonly signingKeyText: string;
  /** `GET /v1/wallets` and the like, one a request, refused ones among them. */
  readonly seen: string[];
  readonly refused: string[];
  readonly wallets: Map<string, Wallet>;
  /** Applied to granted requests in order, one each. */
  readonly faults: Fault[];
  /** A provider that forgets: from now on a wallet that is there is a conflict. */
  forgetIdempotencyKeys(): void;
};

type Question = {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Record<string, unknown>;
};

const APP = { appId: 'app-of-the-tests', appSecret: 'app secret of the tests' };

/** A hosted wallet provider on loopback. It grants nothing without the app's secret and the key's signature. */
export async function fakeWalletProvider(): Promise<FakeWalletProvider> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const owner = publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
  const wallets = new Map<string, Wallet>();
  const idempotent = new Map<string, Wallet>();
  const seen: string[] = [];
  const refused: string[] = [];
  const faults: Fault[] = [];

  const server = createServer((request, response) => {
    void readQuestion(request).then((question) => {
      seen.push(`${question.method} ${question.path.split('?')[0]}`);
      const why = reasonToRefuse(question, baseUrl(), owner);
      if (why !== undefined) {
        refused.push(why);
        return answer(response, 401, { error: why });
      }
      const fault = faults.shift();
      if (fault?.kind === 'silence') return undefined;
      if (fault?.kind === 'status') return answer(response, fault.status, fault.body ?? {});
      if (fault?.kind === 'text') return answer(response, 200, fault.text);
      return grant({ wallets, idempotent, owner }, question, fault).then(([status, body]) =>
        fault?.kind === 'mute' ? response.destroy() : answer(response, status, body),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const baseUrl = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    settings: { ...APP, baseUrl: baseUrl(), signingKey: privateKey, headerPrefix: 'managed' },
    signingKeyText: `wallet-auth:${privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64')}`,
    seen,
    refused,
    wallets,
    faults,
    forgetIdempotencyKeys: () => idempotent.clear(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function readQuestion(request: IncomingMessage): Promise<Question> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('utf8');
  return {
    method: request.method ?? '',
    path: request.url ?? '',
    headers: request.headers,
    body: text === '' ? {} : JSON.parse(text),
  };
}

function reasonToRefuse(question: Question, baseUrl: string, owner: string): string | undefined {
  const { method, path, headers, body } = question;
  const basic = Buffer.from(`${APP.appId}:${APP.appSecret}`).toString('base64');
  if (headers.authorization !== `Basic ${basic}`) return 'wrong app secret';
  if (headers['managed-app-id'] !== APP.appId) return 'wrong app id';
  if (method === 'GET') return undefined;
  const own = Object.fromEntries(
    Object.entries(headers).filter(
      ([name]) => name === 'managed-app-id' || name === 'managed-idempotency-key',
    ),
  );
  const signed = { version: 1, method, url: `${baseUrl}${path}`, body, headers: own };
  const key = createPublicKey({
    key: Buffer.from(owner, 'base64'),
    format: 'der',
    type: 'spki',
  });
  const signature = String(headers['managed-authorization-signature'] ?? '');
  const text = Buffer.from(JSON.stringify(sorted(signed)));
  return verify('sha256', text, key, Buffer.from(signature, 'base64'))
    ? undefined
    : 'wrong request signature';
}

type Kept = {
  readonly wallets: Map<string, Wallet>;
  readonly idempotent: Map<string, Wallet>;
  readonly owner: string;
};

async function grant(
  kept: Kept,
  question: Question,
  fault: Fault | undefined,
): Promise<[status: number, body: unknown]> {
  const { method, path, headers, body } = question;
  const url = new URL(path, 'http://provider');
  const other = fault?.kind === 'other wallet' ? walletOf(fault.externalId) : undefined;
  if (method === 'GET') {
    const found = kept.wallets.get(url.searchParams.get('external_id') ?? '');
    return [200, { data: found === undefined ? [] : [found] }];
  }
  if (url.pathname === '/v1/wallets') {
    if (JSON.stringify(body.owner) !== JSON.stringify({ public_key: kept.owner })) {
      return [400, { error: 'the owner is not the signer' }];
    }
    const idempotencyKey = String(headers['managed-idempotency-key']);
    const before = kept.idempotent.get(idempotencyKey);
    if (before !== undefined) return [200, before];
    const externalId = String(body.external_id);
    if (kept.wallets.has(externalId)) return [409, { error: 'external_id is taken' }];
    const made = other ?? walletOf(externalId);
    kept.wallets.set(externalId, made);
    kept.idempotent.set(idempotencyKey, made);
    return [200, made];
  }
  const wallet = [...kept.wallets.values()].find(
    ({ id }) => url.pathname === `/v1/wallets/${id}/rpc`,
  );
  if (wallet === undefined || body.method !== 'eth_signTypedData_v4')
    return [404, { error: 'none' }];
  const { typed_data } = body.params as { typed_data: Record<string, unknown> };
  const signature = await accountOf((other ?? wallet).external_id).signTypedData({
    ...typed_data,
    primaryType: typed_data.primary_type,
  } as never);
  const bend = fault?.kind === 'signature' ? fault.bend : (hex: string) => hex;
  return [200, { method: body.method, data: { signature: bend(signature), encoding: 'hex' } }];
}

const digestOf = (text: string) => createHash('sha256').update(text).digest('hex');
const accountOf = (externalId: string): PrivateKeyAccount =>
  privateKeyToAccount(`0x${digestOf(`provided ${externalId}`)}`);

/** The wallet of an external id, the same at every provider of the tests. */
function walletOf(externalId: string): Wallet {
  const id = digestOf(`id ${externalId}`).slice(0, 24);
  const { address } = accountOf(externalId);
  return { id, external_id: externalId, chain_type: 'ethereum', address };
}

/** Written apart from the server's own canonical JSON, so that both must be right. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, member]) => [name, sorted(member)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json', location: '/elsewhere' });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}
