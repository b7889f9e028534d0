import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLog } from '../../../src/kernel/log.ts';
import { systemRandom } from '../../../src/kernel/random.ts';
import { createRamp, type Ramp } from '../../../src/payments/ramp/ramp.ts';
import { readRampKey } from '../../../src/payments/ramp/ramp-key.ts';
import { createFetch, type FetchRequest } from '../../../src/platform/egress/fetch.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import {
  curveKey,
  edwardsKey,
  type PeerKey,
  type RampPeer,
  startRampPeer,
} from '../../support/ramp-peer.ts';

/** The client of the on- and off-ramp, against a peer that verifies every credential. */

const ADDRESS = `0x${'a1'.repeat(20)}`;
const VISIT = { address: ADDRESS, clientIp: '203.0.113.9' };
const DEPOSIT = `0x${'D1'.repeat(20)}`;

let key: PeerKey;
let peer: RampPeer;
beforeEach(async () => {
  key = edwardsKey();
  peer = await startRampPeer(key);
});
afterEach(() => peer[Symbol.asyncDispose]());

const { fetch, close } = createFetch();
afterAll(close);

type Wish = {
  readonly key?: PeerKey;
  readonly skewMs?: number;
  readonly change?: (request: FetchRequest) => FetchRequest;
};

function rampOf({ key: own = key, skewMs = 0, change = (request) => request }: Wish = {}): Ramp {
  const known = readRampKey(own.id, own.secret);
  if (known === undefined) throw new Error('the key cannot be read');
  const clock = new ManualClock(Date.now() + skewMs);
  return createRamp({
    key: known,
    clock,
    random: systemRandom,
    log: silentLog,
    fetch: (request) => fetch(change(request)),
    baseUrl: peer.origin,
    pageUrl: 'https://pay.example',
    redirectUrl: 'https://own.example/back',
  });
}

const UNAVAILABLE = expect.objectContaining({ status: 502, error: 'onramp_unavailable' });

describe('the client of the ramp', () => {
  it('the provider makes a token for a request signed with an Ed25519 key', async () => {
    expect(await rampOf().makeToken(VISIT)).toEqual({
      token: expect.stringMatching(/^token-/),
      channelId: '',
    });
    expect(peer.seen).toEqual([
      {
        path: '/onramp/v1/token',
        body: {
          addresses: [{ address: ADDRESS, blockchains: ['base'] }],
          assets: ['USDC'],
          clientIp: '203.0.113.9',
        },
      },
    ]);
  });

  it('the provider makes a token for a request signed with a P-256 key', async () => {
    const other = curveKey();
    await using second = await startRampPeer(other);
    const known = readRampKey(other.id, other.secret);
    if (known === undefined) throw new Error('the key cannot be read');
    const ramp = createRamp({
      key: known,
      clock: new ManualClock(Date.now()),
      random: systemRandom,
      log: silentLog,
      fetch,
      baseUrl: second.origin,
      pageUrl: 'https://pay.example',
      redirectUrl: undefined,
    });
    expect(await ramp.makeToken(VISIT)).toMatchObject({ token: expect.any(String) });
  });

  it.each<[string, Wish, string | RegExp]>([
    ['signed two minutes ago', { skewMs: -121_000 }, /"exp" claim timestamp check failed/],
    ['signed in the future', { skewMs: 60_000 }, /"nbf" claim timestamp check failed/],
    ['signed with another key', { key: { ...edwardsKey() } }, /signature verification failed/],
    [
      'sent to another path',
      { change: (r) => ({ ...r, url: `${r.url}/x` }) },
      /for another request/,
    ],
    [
      'sent to another host name',
      { change: (r) => ({ ...r, headers: { ...r.headers, host: 'api.other.example' } }) },
      /for another request/,
    ],
    ['without the address of the client', { change: withoutClientIp }, 'clientIp missing'],
  ])(
    'a token request %s is refused by the provider, and the caller reads 502',
    async (_, wish, why) => {
      await expect(rampOf(wish).makeToken(VISIT)).rejects.toEqual(UNAVAILABLE);
      expect(peer.refused).toEqual([typeof why === 'string' ? why : expect.stringMatching(why)]);
    },
  );

  it('the provider refuses a credential that is sent twice, and each request has its own', async () => {
    let first: FetchRequest | undefined;
    const ramp = rampOf({ change: (request) => (first ??= request) });
    await ramp.makeToken(VISIT);
    await expect(ramp.makeToken(VISIT)).rejects.toEqual(UNAVAILABLE);
    expect(peer.refused).toEqual(['nonce replayed']);
    await rampOf().makeToken(VISIT);
    await rampOf().makeToken(VISIT);
    expect(peer.seen).toHaveLength(3);
  });

  it('a client whose address is unknown is refused before the provider is asked', async () => {
    await expect(rampOf().makeToken({ ...VISIT, clientIp: 'unknown' })).rejects.toMatchObject({
      status: 400,
      error: 'client_address_unknown',
    });
    expect(peer.seen).toEqual([]);
  });

  it.each([
    ['500', { status: 500, text: 'oops' }],
    ['no JSON', { status: 200, text: '<html>' }],
    ['no token', { status: 200, text: '{"channel_id":"c"}' }],
    ['too much', { status: 200, text: `{"token":"${'t'.repeat(300_000)}"}` }],
  ])('an answer of the provider with %s is a 502', async (_, answer) => {
    peer.answer = answer;
    await expect(rampOf().makeToken(VISIT)).rejects.toEqual(UNAVAILABLE);
  });

  it('the seventeenth request that waits for the provider is refused with 503', async () => {
    let go = () => {};
    const waiting = new Promise<void>((resolve) => {
      go = resolve;
    });
    const known = readRampKey(key.id, key.secret);
    if (known === undefined) throw new Error('the key cannot be read');
    const ramp = createRamp({
      key: known,
      clock: new ManualClock(Date.now()),
      random: systemRandom,
      log: silentLog,
      fetch: async (request) => {
        await waiting;
        return fetch(request);
      },
      baseUrl: peer.origin,
      pageUrl: 'https://pay.example',
      redirectUrl: undefined,
    });
    const asked = Array.from({ length: 16 }, () => ramp.makeToken(VISIT));
    await expect(ramp.makeToken(VISIT)).rejects.toMatchObject({ status: 503, error: 'capacity' });
    go();
    expect(await Promise.all(asked)).toHaveLength(16);
  });

  it('the page of a sale names the token, the order, the amount and the way back', () => {
    const url = new URL(rampOf().sellUrl({ token: 't&1', ref: 'co_1', amount: '1.500000' }));
    expect(`${url.origin}${url.pathname}`).toBe('https://pay.example/v3/sell/input');
    expect(Object.fromEntries(url.searchParams)).toEqual({
      sessionToken: 't&1',
      partnerUserRef: 'co_1',
      defaultAsset: 'USDC',
      defaultNetwork: 'base',
      presetCryptoAmount: '1.500000',
      redirectUrl: 'https://own.example/back',
    });
  });

  const sale = { transaction_id: 's1', asset: 'USDC', network: 'base', to_address: DEPOSIT };
  it.each([
    ['CREATED', { ...sale, status: 'TRANSACTION_STATUS_CREATED' }, 'sale.opened'],
    ['STARTED', { ...sale, status: 'TRANSACTION_STATUS_STARTED' }, 'sale.opened'],
    [
      'STARTED with a transaction',
      { ...sale, status: 'TRANSACTION_STATUS_STARTED', tx_hash: '0x1' },
      'sale.received',
    ],
    ['SUCCESS', { ...sale, status: 'TRANSACTION_STATUS_SUCCESS' }, 'sale.completed'],
    ['FAILED', { ...sale, status: 'TRANSACTION_STATUS_FAILED' }, 'sale.failed'],
    ['EXPIRED', { ...sale, status: 'TRANSACTION_STATUS_EXPIRED' }, 'sale.expired'],
  ])('a sale with the status %s is read as its event', async (_, entry, event) => {
    peer.sales.set('co_1', [
      {
        ...entry,
        sell_amount: { value: '1.25', currency: 'USDC' },
        total: { value: '1.20', currency: 'USD' },
      },
    ]);
    expect(await rampOf().sales('co_1')).toEqual([
      {
        id: 's1',
        event,
        depositAddress: DEPOSIT.toLowerCase(),
        amountRaw: 1_250_000n,
        fiat: '1.20 USD',
      },
    ]);
  });

  it.each([
    ['of another asset', { ...sale, status: 'TRANSACTION_STATUS_STARTED', asset: 'ETH' }],
    ['on another network', { ...sale, status: 'TRANSACTION_STATUS_STARTED', network: 'ethereum' }],
    ['with an unknown status', { ...sale, status: 'TRANSACTION_STATUS_DREAMT' }],
    ['without an id', { status: 'TRANSACTION_STATUS_STARTED' }],
    ['that is no object', 'sale' as never],
  ])('a sale %s is left out', async (_, entry) => {
    peer.sales.set('co_1', [entry]);
    expect(await rampOf().sales('co_1')).toEqual([]);
  });

  it('a deposit address that is none is not told to anybody', async () => {
    const entry = { ...sale, to_address: 'bc1q', status: 'TRANSACTION_STATUS_STARTED' };
    peer.sales.set('co_1', [entry]);
    expect(await rampOf().sales('co_1')).toMatchObject([{ depositAddress: null }]);
  });

  it.each([
    ['empty', ''],
    ['32 bytes', Buffer.alloc(32).toString('base64')],
    ['a PEM without a key', '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----'],
  ])('a secret that is %s is no key', (_, secret) => {
    expect(readRampKey('id', secret)).toBeUndefined();
  });
});

function withoutClientIp(request: FetchRequest): FetchRequest {
  const { clientIp: _, ...body } = JSON.parse(String(request.body));
  return { ...request, body: JSON.stringify(body) };
}
