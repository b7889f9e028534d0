import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EvilAnswer } from '../support/chain/evil-answer.ts';
import type { ChallengeShape } from '../support/chain/evil-challenge.ts';
import { BATTERY, type Leg } from '../support/chain/evil-vendor.ts';
import {
  fundsOf,
  type PayingAgent,
  type PaymentWorld,
  startPaymentWorld,
  until,
} from '../support/payment-world.ts';

let bench: PaymentWorld;
let agent: PayingAgent;
const FUNDS = 1_000_000n;
const ENVIRONMENT = { X402_VALID_BEFORE_SECONDS: '30' };
const TIMES = { unpaidMs: 1_500, paidMs: 1_500, idleMs: 700 };
beforeAll(async () => {
  bench = await startPaymentWorld(ENVIRONMENT, { vendorTimes: TIMES });
  agent = await bench.payer('victim', FUNDS);
});
afterAll(() => bench[Symbol.asyncDispose]());

const usdc = () => bench.chain.usdcOf(agent.wallet as `0x${string}`);

/** Nothing was signed, nothing is held, nothing moved. */
async function expectUntouched(url: string) {
  expect(bench.vendor.nonces(url)).toEqual([]);
  expect(await fundsOf(bench.world.sql, agent.agentId)).toEqual({
    spendable: FUNDS,
    held: 0n,
    wallet: FUNDS,
    promised: 0n,
  });
  expect(await usdc()).toBe(FUNDS);
}

const asks = (shape: ChallengeShape): Leg => ({ answer: { kind: 'challenge', ...shape } });

const OTHER = '0x1111111111111111111111111111111111111111';
const ZERO = `0x${'0'.repeat(40)}`;
const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';

/** What a challenge may say that must never be paid, by what the caller is told. */
const UNPAYABLE: readonly (readonly [string, () => ChallengeShape, Record<string, unknown>])[] = [
  ...(
    [
      ['a foreign asset', { offer: { asset: OTHER } }],
      ['a foreign network', { offer: { network: 'eip155:1' } }],
      ['a short network name in version 2', { offer: { network: 'base' } }],
      ['another scheme', { offer: { scheme: 'upto' } }],
      ['permit2', { offer: { extra: { assetTransferMethod: 'permit2' } } }],
      ['another domain name', { offer: { extra: { name: 'USDC', version: '2' } } }],
      ['the zero address as payee', { offer: { payTo: ZERO } }],
      ['the token itself as payee', { offer: { payTo: USDC } }],
      ['a name as payee', { offer: { payTo: 'bob' } }],
      ['2^256', { amount: (2n ** 256n).toString() }],
      ['2^63', { amount: (2n ** 63n).toString() }],
      ['-5', { amount: '-5' }],
      ['1e3', { amount: '1e3' }],
      ['0x10', { amount: '0x10' }],
      ['0.01', { amount: '0.01' }],
      ['an empty amount', { amount: '' }],
      ['a spaced amount', { amount: ' 1' }],
      ['no amount', { amount: undefined }],
      ['an object as amount', { amount: { raw: '1' } }],
      ['no offers', { envelope: { accepts: [] } }],
      ['a later version', { envelope: { x402Version: 3 } }],
    ] as const
  ).map(
    ([name, shape]) =>
      [name, () => shape as ChallengeShape, { code: 'no_compatible_requirement' }] as const,
  ),
  [
    'a payee that is the payer',
    () => ({ offer: { payTo: agent.wallet } }),
    { code: 'no_compatible_requirement' },
  ],
  ['junk for base64', () => ({ headerText: '%%%not base64%%%' }), { code: 'invalid_base64' }],
  ['base64url', () => ({ headerText: 'eyJ4_-8' }), { code: 'invalid_base64' }],
  ['base64 of no JSON', () => ({ headerText: 'bm90IGpzb24=' }), { code: 'invalid_json' }],
  ['two headers', () => ({ headerCopies: ['e30='] }), { code: 'invalid_base64' }],
];

describe('a challenge that lies', () => {
  it.each(UNPAYABLE)("a vendor's challenge with %s is not paid", async (_, shape, told) => {
    const url = bench.vendor.sell({ unpaid: asks(shape()) });
    const refused = await agent.fetch(url);
    expect(refused.status).toBe(502);
    expect(refused.body).toMatchObject({
      error: 'Failed to parse PAYMENT-REQUIRED header',
      ...told,
    });
    expect(refused.headers.get('x-svc-payment')).toBeNull();
    await expectUntouched(url);
  });

  it('a 402 without any challenge is reported as lacking one', async () => {
    const unpaid = asks({ version: 1, form: 'body', body: '<html>pay up</html>' });
    const url = bench.vendor.sell({ unpaid });
    const refused = await agent.fetch(url);
    expect([refused.status, refused.body.error]).toEqual([
      502,
      '402 response missing PAYMENT-REQUIRED header',
    ]);
    await expectUntouched(url);
  });

  it('a challenge on a 200 is passed through like any other response', async () => {
    const url = bench.vendor.sell({ unpaid: asks({ status: 200 }) });
    const told = await agent.fetch(url);
    expect([
      told.status,
      told.headers.get('x-svc-payment'),
      told.headers.get('x-svc-cost-usdc'),
    ]).toEqual([200, 'passthrough', '0']);
    await expectUntouched(url);
  });

  it('a challenge beyond the balance is refused with the amount available', async () => {
    const url = bench.vendor.sell({ priceRaw: FUNDS + 1n });
    const refused = await agent.fetch(url);
    expect([refused.status, refused.body]).toMatchObject([
      402,
      { error: 'insufficient_balance', available: '1000000', required: '1000001' },
    ]);
    await expectUntouched(url);
  });

  it('a challenge in headers of 100 KB is not read, and not paid', async () => {
    const headers = Array.from(
      { length: 100 },
      (_, i) => [`x-pad-${i}`, 'a'.repeat(1_024)] as const,
    );
    const url = bench.vendor.sell({ unpaid: asks({ headers }) });
    const refused = await agent.fetch(url);
    expect([refused.status, refused.body.error]).toEqual([502, 'Failed to reach target URL']);
    await expectUntouched(url);
  });
});

const SLOW_BEFORE: readonly (readonly [string, EvilAnswer])[] = [
  ['silent', { kind: 'silence' }],
  ['slow with its head', { kind: 'drip', part: 'head', everyMs: 100 }],
  ['dropping the connection', { kind: 'drop', after: 'request' }],
  ['speaking no HTTP', { kind: 'raw', text: 'SSH-2.0-nonsense\r\n\r\n' }],
];

describe('before anything is paid', () => {
  it.each(SLOW_BEFORE)('a vendor that is %s is unreachable', async (_, answer) => {
    const url = bench.vendor.sell({ unpaid: { answer } });
    const refused = await agent.fetch(url);
    expect([refused.status, refused.body.error]).toEqual([502, 'Failed to reach target URL']);
    await expectUntouched(url);
  });

  it('a redirect of an unpaid vendor is passed on and not followed', async () => {
    const location = `${bench.vendor.origin}/private`;
    const url = bench.vendor.sell({ unpaid: { answer: { kind: 'redirect', location } } });
    const told = await fetch(`${bench.world.url}/v1/proxy/fetch`, {
      method: 'POST',
      headers: { authorization: `Bearer ${agent.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ url }),
      redirect: 'manual',
    });
    expect([told.status, told.headers.get('location')]).toEqual([302, location]);
    expect(bench.vendor.seen(location)).toEqual([]);
    await expectUntouched(url);
  });

  it('a compressed body of zeros is passed on without being decompressed', async () => {
    const url = bench.vendor.sell({ unpaid: { answer: { kind: 'bomb', megabytes: 200 } } });
    const answer = await fetch(`${bench.world.url}/v1/proxy/fetch`, {
      method: 'POST',
      headers: { authorization: `Bearer ${agent.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ url }),
    });
    expect([answer.status, answer.headers.get('content-encoding')]).toEqual([200, 'gzip']);
    await answer.body?.cancel();
    await expectUntouched(url);
  });
});

/** What a vendor may do with the payment in hand, and what its buyer is told. */
const AFTER: readonly (readonly [string, Leg, { status: number; error: string }])[] = [
  [
    'raises its price',
    { settle: 'never', answer: { kind: 'challenge', amount: '900000' } },
    { status: 402, error: 'Payment was not accepted by resource server' },
  ],
  [
    'asks again for the same',
    BATTERY.double402,
    { status: 402, error: 'Payment was not accepted by resource server' },
  ],
  [
    'says 403',
    { settle: 'never', answer: { kind: 'answer', status: 403 } },
    { status: 403, error: 'Payment was not accepted by resource server' },
  ],
  [
    'drops the connection',
    { settle: 'never', answer: { kind: 'drop', after: 'request' } },
    { status: 502, error: 'upstream_paid_request_failed_ambiguous' },
  ],
  [
    'says nothing',
    { settle: 'never', answer: { kind: 'silence' } },
    { status: 502, error: 'upstream_paid_request_failed_ambiguous' },
  ],
  [
    'drips its head',
    { settle: 'never', answer: { kind: 'drip', part: 'head', everyMs: 100 } },
    { status: 502, error: 'upstream_paid_request_failed_ambiguous' },
  ],
  [
    'fails with 503',
    { settle: 'never', answer: { kind: 'answer', status: 503 } },
    { status: 502, error: 'upstream_paid_request_failed_ambiguous' },
  ],
  [
    'speaks no HTTP',
    { settle: 'never', answer: { kind: 'raw', text: '\x00\x01\x02' } },
    { status: 502, error: 'upstream_paid_request_failed_ambiguous' },
  ],
];

describe('with the payment in hand', () => {
  it.each(AFTER)(
    'a vendor that %s has one authorization and gets no other',
    async (name, stage, told) => {
      await using own = await startPaymentWorld(ENVIRONMENT, { vendorTimes: TIMES });
      const payer = await own.payer(`after ${name}`.slice(0, 40), 20_000n);
      const url = own.vendor.sell({ priceRaw: 10_000n, paid: stage });
      const refused = await payer.fetch(url);
      expect([refused.status, refused.body.error]).toEqual([told.status, told.error]);
      expect(refused.headers.get('x-should-retry')).toBe('false');
      const [nonce, ...others] = own.vendor.nonces(url);
      expect(others).toEqual([]);
      expect(refused.body.reservation).toMatchObject({ nonce });
      // Whatever was said: the money stays held until the chain has spoken.
      const { sql } = own.world;
      expect(await fundsOf(sql, payer.agentId)).toMatchObject({ held: 10_000n, promised: 10_000n });
      await own.chain.travel(120);
      await until(async () => (await fundsOf(sql, payer.agentId)).held === 0n);
      expect(await fundsOf(sql, payer.agentId)).toEqual({
        spendable: 20_000n,
        held: 0n,
        wallet: 20_000n,
        promised: 0n,
      });
      const [row] = await sql`select state from reservations where nonce = ${nonce as string}`;
      expect(row?.state).toBe(told.status === 502 ? 'expired_unsettled' : 'payment_rejected');
    },
  );
});
