import { describe, expect, it } from 'vitest';
import type { PaidRequest } from '../../../../src/models/providers/paid-calls.ts';
import { createPaidCalls } from '../../../../src/models/providers/x402/pay-from-wallet.ts';
import { SendFailed } from '../../../../src/platform/egress/send-failed.ts';
import { AGENT, rest } from '../../../support/payment-book.ts';
import { demand, PAYER, paymentIn, proxyWorld, type Vendor } from '../../../support/proxy-world.ts';

const URL_ = 'https://router.test/v1/chat/completions';

/** The same as the proxy has, and one request that a model is bought with. */
function world(vendor: Vendor = {}) {
  const all = proxyWorld(vendor);
  const send = async (change: Partial<PaidRequest> = {}) => {
    const answer = await createPaidCalls(all.deps).send({
      spender: { agentId: AGENT, keyId: 1 },
      maker: 'acme',
      mostRaw: 1_000_000n,
      holdId: 'work_1:pay',
      url: URL_,
      headers: [['accept', 'application/json']],
      body: '{}',
      firstByteMs: 1_000,
      idleMs: 2_000,
      totalMs: 3_000,
      responseBytes: 4_000,
      signal: new AbortController().signal,
      ...change,
    });
    await rest(all.book);
    return answer;
  };
  return { ...all, send };
}

describe('a request that is paid for by itself', () => {
  it('an x402 call is paid from the hold that it names and counted as spent at the model’s maker', async () => {
    const { book, row, send, sent } = world();
    const told = await send();
    const { nonce, validBefore, valueRaw: paidRaw } = row();
    expect(told).toMatchObject({ kind: 'answered', payment: { nonce, validBefore, paidRaw } });
    expect(row()).toMatchObject({ holdId: 'work_1:pay', targetUrl: URL_, targetHost: 'acme' });
    expect(sent.map((each) => paymentIn(each) !== undefined)).toEqual([false, true]);
    expect(book.rows(() => true)).toHaveLength(1);
  });

  it('an x402 call sends both of its requests with its own timeouts and size limit', async () => {
    const { send, sent } = world();
    await send();
    for (const { request } of sent) {
      expect(request).toMatchObject({
        timeouts: { firstByteMs: 1_000, idleMs: 2_000, totalMs: 3_000 },
        maxResponseBytes: 4_000,
      });
    }
  });

  it('an x402 call without a payment demand is not paid', async () => {
    const { book, passed, send } = world({ unpaid: { body: 'free' } });
    expect(await send()).toMatchObject({ kind: 'answered', payment: undefined });
    expect([book.rows(() => true), passed]).toEqual([[], []]);
  });
});

describe('nothing is signed', () => {
  const unsigned = async (all: ReturnType<typeof world>, change: Partial<PaidRequest> = {}) => {
    const told = await all.send(change);
    expect(all.signed).toEqual([]);
    expect(all.book.rows(() => true)).toEqual([]);
    return told;
  };

  it('an x402 call signs no payment above its cap, to the raw unit', async () => {
    const priced = world({ unpaid: demand({ amount: '10000' }) });
    expect(await unsigned(priced, { mostRaw: 9_999n })).toMatchObject({
      kind: 'unpaid',
      failure: 'too_dear',
    });
    expect(await priced.send({ mostRaw: 10_000n })).toMatchObject({ kind: 'answered' });
  });

  it('an x402 call signs no payment when the provider is unreachable or its demand cannot be paid', async () => {
    const gone = new SendFailed('unreachable', { beforeBytes: true });
    const toItself = demand({ payTo: PAYER.address });
    const garbled = { status: 402, headers: [['payment-required', '%']] as const };
    for (const unpaid of [gone, { status: 402, body: 'pay me' }, garbled, toItself]) {
      expect(await unsigned(world({ unpaid }))).toMatchObject({
        kind: 'unpaid',
        failure: 'unreachable',
      });
    }
  });

  it('an x402 call signs no payment when this server has no free connection, and fails as busy', async () => {
    const unpaid = new SendFailed('busy', { beforeBytes: true });
    expect(await unsigned(world({ unpaid }))).toMatchObject({ kind: 'unpaid', failure: 'busy' });
  });

  it('an x402 call signs no payment while payments are suspended', async () => {
    const all = world();
    all.state.breaker = { kind: 'active', reason: 1, reasonText: 'the peg is off' };
    expect(await unsigned(all)).toEqual({
      kind: 'unpaid',
      failure: 'unpayable',
      detail: 'the peg is off',
    });
  });

  it('an x402 call signs no payment when the balance does not cover it', async () => {
    const all = world();
    all.state.spendState = { ...all.state.spendState, spendableRaw: 5n };
    expect(await unsigned(all)).toMatchObject({
      kind: 'unaffordable',
      refusal: { reason: 'insufficient_balance', availableRaw: 5n },
    });
  });

  it('an x402 call signs no payment for a client that has left', async () => {
    const leaving = new AbortController();
    const all = world({
      unpaid() {
        leaving.abort();
        return demand({});
      },
    });
    expect(await unsigned(all, { signal: leaving.signal })).toEqual({ kind: 'aborted' });
  });
});

it.each([
  ['no answer', new SendFailed('broken', { beforeBytes: false }), 502],
  ['a failure', { status: 503 }, 502],
  ['a refusal', { status: 400 }, 400],
] as const)(
  'an x402 payment that gets %s is spent, and its reservation is named in the error',
  async (_, paid, status) => {
    const { row, send } = world({ paid });
    const told = await send();
    const { nonce, validBefore } = row();
    expect(told).toMatchObject({
      kind: 'spent',
      refusal: { status, fields: { reservation: { nonce, validBefore } } },
    });
  },
);
