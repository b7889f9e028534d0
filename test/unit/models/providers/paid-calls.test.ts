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
  it('is paid by the hold that it names, and counts as spent at the maker', async () => {
    const { book, row, send, sent } = world();
    const told = await send();
    const { nonce, validBefore, valueRaw: paidRaw } = row();
    expect(told).toMatchObject({ kind: 'answered', payment: { nonce, validBefore, paidRaw } });
    expect(row()).toMatchObject({ holdId: 'work_1:pay', targetUrl: URL_, targetHost: 'acme' });
    expect(sent.map((each) => paymentIn(each) !== undefined)).toEqual([false, true]);
    expect(book.rows(() => true)).toHaveLength(1);
  });

  it('has the times and the size of its own, both times', async () => {
    const { send, sent } = world();
    await send();
    for (const { request } of sent) {
      expect(request).toMatchObject({
        timeouts: { firstByteMs: 1_000, idleMs: 2_000, totalMs: 3_000 },
        maxResponseBytes: 4_000,
      });
    }
  });

  it('is not paid where nothing is asked for', async () => {
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

  it('where more is asked for than may be paid, to the raw unit', async () => {
    const priced = world({ unpaid: demand({ amount: '10000' }) });
    expect(await unsigned(priced, { mostRaw: 9_999n })).toMatchObject({
      kind: 'unpaid',
      failure: 'too_dear',
    });
    expect(await priced.send({ mostRaw: 10_000n })).toMatchObject({ kind: 'answered' });
  });

  it('where the provider cannot be reached, or demands what cannot be paid', async () => {
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

  it('while this server has no connection free, which is no fault of the other side', async () => {
    const unpaid = new SendFailed('busy', { beforeBytes: true });
    expect(await unsigned(world({ unpaid }))).toMatchObject({ kind: 'unpaid', failure: 'busy' });
  });

  it('while this server cannot pay', async () => {
    const all = world();
    all.state.breaker = { kind: 'active', reason: 1, reasonText: 'the peg is off' };
    expect(await unsigned(all)).toEqual({
      kind: 'unpaid',
      failure: 'unpayable',
      detail: 'the peg is off',
    });
  });

  it('where the money is not there', async () => {
    const all = world();
    all.state.spendState = { ...all.state.spendState, spendableRaw: 5n };
    expect(await unsigned(all)).toMatchObject({
      kind: 'unaffordable',
      refusal: { reason: 'insufficient_balance', availableRaw: 5n },
    });
  });

  it('for a client that has left', async () => {
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
  'a payment that gets %s is spent, and told with what to look up',
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
