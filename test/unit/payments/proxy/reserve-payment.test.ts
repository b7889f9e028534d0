import { recoverAddress } from 'viem';
import { describe, expect, it } from 'vitest';
import { ledgerErrors } from '../../../../src/ledger/engine/errors.ts';
import type { Ledger } from '../../../../src/ledger/rules/ledger.ts';
import type { PricedCall, VendorCall } from '../../../../src/payments/proxy/quote-call.ts';
import {
  type ReserveDeps,
  reservePayment,
} from '../../../../src/payments/proxy/reserve-payment.ts';
import { hashAuthorization } from '../../../../src/x402/authorization.ts';
import { type Challenge, parseChallenge } from '../../../../src/x402/challenge.ts';
import { base64, entryV1, entryV2, PAYEE, TERMS, withHeader } from '../../../support/challenges.ts';
import { placeOf } from '../../../support/fakes/scripted-client.ts';
import { AGENT } from '../../../support/payment-book.ts';
import { PAYER, proxyWorld } from '../../../support/proxy-world.ts';
import { admittedWith, type StandingsWish, standingsWith } from '../../../support/standings.ts';

const SECOND_PAYEE = `0x${'b2'.repeat(20)}`;

function challengeOf(version: 1 | 2, ...offers: readonly object[]): Challenge {
  const accepts = offers.map((each) => (version === 1 ? entryV1(each) : entryV2(each)));
  const parsed = parseChallenge(withHeader(base64({ x402Version: version, accepts })), TERMS);
  if (parsed.kind !== 'challenge') throw new Error('expected a challenge');
  return parsed.challenge;
}

/** Nothing is refused by how it stood before: the ledger has the word. */
const RICH = standingsWith({ spendableRaw: 10n ** 12n });

function world() {
  const all = proxyWorld();
  const call: VendorCall = {
    spender: { agentId: AGENT, keyId: 1, taskId: 't1', actionId: 'a1', customerId: 'c1' },
    url: 'https://vendor.test/paid?q=1',
    request: { method: 'POST', headers: [], body: undefined },
    workId: 'work_1',
    signal: new AbortController().signal,
  };
  const destination = placeOf('https://vendor.test/paid?q=1');
  const rich = { ...admittedWith(RICH), accountId: 'acct_7', wallet: PAYER.address };
  const reserve = (
    challenge = challengeOf(2, {}),
    { agent = rich, ...change }: Partial<VendorCall & Pick<PricedCall, 'agent'>> = {},
    deps: Partial<ReserveDeps> = {},
  ) =>
    reservePayment(
      { ...all.deps, ...deps },
      { ...call, ...change },
      { agent, challenge, destination },
    );
  return { ...all, reserve };
}

const decode = (value: string) => JSON.parse(Buffer.from(value, 'base64').toString('utf8'));

describe('a payment that can be refused before it is signed', () => {
  const signed = async (agent: PricedCall['agent']) => {
    const all = world();
    const { reserve } = all;
    const refusal = await reserve(
      undefined,
      { agent },
      {
        wallets: { signTransfer: () => Promise.reject(new Error('no wallet signs')) },
      },
    ).catch((error: unknown) => error);
    return refusal;
  };
  const agentWith = (wanted: StandingsWish) => ({
    ...admittedWith(standingsWith(wanted)),
    accountId: 'acct_7',
    wallet: PAYER.address,
  });

  it('a payment beyond the balance, beyond the wallet or to a payee on no allowlist is not signed', async () => {
    const poor = { error: 'insufficient_balance' };
    expect(await signed(agentWith({ spendableRaw: 1n }))).toMatchObject(poor);
    expect(await signed(agentWith({ spendableRaw: 10n ** 9n, walletRaw: 1n }))).toMatchObject(poor);
    const listed = { spendableRaw: 10n ** 9n, rules: { allowlistMode: 'vendor' as const } };
    expect(await signed(agentWith(listed))).toMatchObject({ error: 'vendor_not_allowlisted' });
    expect(await signed(agentWith({ spendableRaw: 10n ** 9n }))).toMatchObject({
      error: 'Payment signing failed',
    });
  });

  it('a payment is refused by its agent’s current spend state, not by the remembered one', async () => {
    const rich = standingsWith({ spendableRaw: 10n ** 9n });
    const poor = standingsWith({ spendableRaw: 1n });
    const recalled = (now: typeof rich) => ({
      ...admittedWith(poor),
      wallet: PAYER.address,
      view: { remembered: poor, read: async () => now },
    });
    expect(await signed(recalled(rich))).toMatchObject({ error: 'Payment signing failed' });
    expect(await signed(recalled(poor))).toMatchObject({ error: 'insufficient_balance' });
  });
});

describe('a payment that is reserved', () => {
  it('a reserved payment is in the ledger with its hold and signature before it is sent', async () => {
    const { book, reserve } = world();
    const { row, header, held } = await reserve();
    const sentLater = decode(header.value).payload;
    expect(book.store.reservations.get(row.nonce)).toMatchObject({
      state: 'reserved',
      signature: sentLater.signature,
      x402Version: 2,
      network: 'eip155:8453',
      holdId: 'work_1',
      keyId: 1,
      taskId: 't1',
      actionId: 'a1',
      customerId: 'c1',
    });
    expect(book.find(row.nonce)).toEqual(row);
    expect(row).toMatchObject({
      valueRaw: 10_000n,
      wallet: PAYER.address,
      payee: PAYEE.toLowerCase(),
      targetUrl: 'https://vendor.test/paid?q=1',
      targetHost: 'vendor.test',
      method: 'POST',
    });
    expect(held.hold).toMatchObject({ holdId: 'work_1', amountRaw: 10_000n });
    expect(book.funds).toMatchObject({ heldRaw: 10_000n, promisedRaw: 10_000n });
    expect(book.store.violations()).toEqual([]);
  });

  it.each([1, 2] as const)(
    'a reserved payment carries, in version %i, the authorization that its wallet signed for 90 seconds',
    async (version) => {
      const { book, deps, signed, reserve } = world();
      const { row, header } = await reserve(challengeOf(version, {}));
      const { signature, authorization } = decode(header.value).payload;
      const nowSec = book.clock.now() / 1_000;
      expect(authorization).toMatchObject({
        value: '10000',
        validAfter: '0',
        validBefore: String(nowSec + 90),
        nonce: row.nonce,
        from: expect.stringMatching(new RegExp(PAYER.address, 'i')),
        to: PAYEE,
      });
      expect(signed).toMatchObject([{ reference: 'acct_7:1', domain: deps.domain }]);
      // Put together again from what the vendor gets.
      const digest = await hashAuthorization(deps.domain, {
        from: authorization.from,
        to: authorization.to,
        validAfter: 0,
        nonce: row.nonce,
        valueRaw: 10_000n,
        validBefore: row.validBefore,
      });
      const recovered = await recoverAddress({ hash: digest, signature });
      expect(recovered.toLowerCase()).toBe(PAYER.address);
      expect(row.validBefore).toBe(nowSec + 90);
    },
  );

  it('each reserved payment has a random 32-byte nonce of its own', async () => {
    const { reserve } = world();
    const nonces = [];
    for (let i = 0; i < 20; i++) {
      const { row } = await reserve(undefined, { workId: undefined });
      expect(row.nonce).toMatch(/^0x[0-9a-f]{64}$/);
      nonces.push(row.nonce, row.holdId);
    }
    expect(new Set(nonces).size).toBe(40);
  });

  it('a reserved payment takes the cheapest offer, the first among equals, and never one to the payer itself', async () => {
    const { reserve } = world();
    const offers = challengeOf(
      2,
      { amount: '5', payTo: PAYER.address },
      { amount: '30' },
      { amount: '20', payTo: SECOND_PAYEE },
      { amount: '20' },
    );
    const { row } = await reserve(offers);
    expect(row).toMatchObject({ valueRaw: 20n, payee: SECOND_PAYEE });
  });

  it('a payment of amount 0 can be reserved', async () => {
    const { book, reserve } = world();
    const { row } = await reserve(challengeOf(2, { amount: '0' }));
    expect([row.valueRaw, book.live()]).toEqual([0n, [row]]);
  });
});

/** What must not have happened where nothing is to be paid. */
async function expectNothing({ book, signed }: ReturnType<typeof world>, { signatures = 0 } = {}) {
  await book.deposited;
  expect(signed).toHaveLength(signatures);
  expect(book.live()).toEqual([]);
  expect(book.funds).toMatchObject({ spendableRaw: 1_000_000n, heldRaw: 0n, promisedRaw: 0n });
}

describe('a payment that may not be made', () => {
  it.each([
    ['active', 503, 'circuit_breaker_active'],
    ['stale', 503, 'circuit_breaker_stale'],
  ] as const)(
    'a payment while the circuit breaker is %s is neither signed nor held',
    async (kind, status, error) => {
      const all = world();
      all.state.breaker = { kind, reason: 1, reasonText: 'the sequencer is down' };
      await expect(all.reserve()).rejects.toMatchObject({
        status,
        error,
        fields: { detail: 'the sequencer is down' },
      });
      await expectNothing(all);
      expect(all.book.holds).toEqual([]);
    },
  );

  it('a payment without a wallet or a signer is neither signed nor held', async () => {
    const all = world();
    const agent = { ...admittedWith(RICH), wallet: null };
    await expect(all.reserve(undefined, { agent })).rejects.toMatchObject({
      status: 503,
      error: 'agent_wallet_not_configured',
    });
    await expect(all.reserve(undefined, {}, { wallets: undefined })).rejects.toMatchObject({
      status: 503,
      error: 'agent_features_unavailable',
    });
    await expectNothing(all);
  });

  it('a payment whose only offer pays the payer itself is neither signed nor held', async () => {
    const all = world();
    await expect(all.reserve(challengeOf(2, { payTo: PAYER.address }))).rejects.toMatchObject({
      status: 502,
      error: 'Failed to parse PAYMENT-REQUIRED header',
      fields: { code: 'no_compatible_requirement' },
    });
    await expectNothing(all);
  });

  it('a payment that cannot be signed is not held', async () => {
    const all = world();
    all.state.signing = new Error('the provider is away');
    await expect(all.reserve()).rejects.toMatchObject({
      status: 500,
      error: 'Payment signing failed',
    });
    await expectNothing(all);
    expect(all.book.holds).toEqual([]);
    expect(JSON.stringify(all.lines)).toContain('a payment could not be signed');
  });

  it('a payment beyond the balance is refused with the available amount and leaves no reservation', async () => {
    const all = world();
    await expect(all.reserve(challengeOf(2, { amount: '1000001' }))).rejects.toMatchObject({
      status: 402,
      error: 'insufficient_balance',
      fields: { available: '1000000', required: '1000001' },
    });
    await expectNothing(all, { signatures: 1 });
  });

  it('a payment beyond the wallet’s unpromised balance is refused with that balance as available', async () => {
    const all = world();
    await all.book.ledger.credit({ agentId: AGENT, amountRaw: 500_000n, reference: 'a gift' });
    await all.book.open('promised', { valueRaw: 900_000n });
    await expect(all.reserve(challengeOf(2, { amount: '100001' }))).rejects.toMatchObject({
      error: 'insufficient_balance',
      fields: { available: '100000' },
    });
    expect((await all.reserve(challengeOf(2, { amount: '100000' }))).row.valueRaw).toBe(100_000n);
  });

  it.each([
    ['says that it is full', ledgerErrors.full()],
    ['says that it is away', ledgerErrors.away()],
    ['breaks', new Error('a connection was lost')],
  ])(
    'a payment while the ledger %s is refused as not persisted, to be retried',
    async (_, failure) => {
      const all = world();
      const ledger: Pick<Ledger, 'hold'> = { hold: () => Promise.reject(failure) };
      await expect(
        all.reserve(undefined, {}, { ledger: ledger as ReserveDeps['ledger'] }),
      ).rejects.toMatchObject({
        status: 500,
        error: 'Reservation persistence failed',
        headers: { 'x-should-retry': 'true' },
      });
    },
  );
});
