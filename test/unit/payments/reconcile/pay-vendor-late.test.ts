import { describe, expect, it } from 'vitest';
import type { ApiError } from '../../../../src/kernel/api-error.ts';
import { PAYMENT_LIMITS } from '../../../../src/payments/limits.ts';
import type { ChainVerdict } from '../../../../src/payments/reconcile/judge-by-chain.ts';
import { payWorld } from '../../../support/pay-world.ts';
import { letRun } from '../../../support/payment-book.ts';
import { nonceOf } from '../../../support/payments.ts';

const TX = `0x${'cd'.repeat(32)}`;
const USED: ChainVerdict = { kind: 'used', txHash: TX };

/** The vendor answers so long after the payment was sent; it is good for 90 s. */
const lateWorld = (verdict: ChainVerdict, { takesMs = 90_000, status = 200 } = {}) =>
  payWorld({ status, body: 'bought' }, { verdict, takesMs });

const refusalOf = (paying: Promise<unknown>): Promise<ApiError> =>
  paying.then(
    () => Promise.reject(new Error('it was not refused')),
    (error: ApiError) => error,
  );

describe('an answer that comes when the payment has lapsed', () => {
  it('a vendor’s answer waits for the chain’s verdict from the payment’s validBefore on, and not before', async () => {
    const early = lateWorld(USED, { takesMs: 89_999 });
    await early.pay();
    expect([early.waits, early.book.row('p').state]).toEqual([[], 'pending_settlement']);
    const late = lateWorld(USED, { takesMs: 90_000 });
    await late.pay();
    expect(late.waits).toEqual([PAYMENT_LIMITS.lateAnswer.waitMs]);
  });

  it('a vendor’s late answer is relayed where the chain shows the payment, which is settled', async () => {
    const { book, pay, answers, steps } = lateWorld(USED);
    const { answer } = await pay();
    expect(answer).toBe(answers[0]);
    expect(answers[0]?.isDiscarded).toBe(false);
    expect(book.row('p')).toMatchObject({
      state: 'settled',
      txHash: TX,
      responseStatusCode: 200,
      latencyMs: 90_000,
    });
    expect(book.funds).toMatchObject({ spendableRaw: 990_000n, heldRaw: 0n, walletRaw: 990_000n });
    expect(book.settlements.at(-1)?.charges?.(10_000n)[0]).toMatchObject({
      status: 'success',
      responseStatusCode: 200,
      latencyMs: 90_000,
    });
    expect(steps).toEqual(['sending', 'answered', 'booked', 'judged', 'booked']);
    expect(book.store.violations()).toEqual([]);
  });

  it('a vendor’s late answer that settles its payment writes the settlement events', async () => {
    const { book, pay } = lateWorld(USED);
    const told: string[] = [];
    await pay({
      eventsOf: async ({ nonce }, txHash) => {
        told.push(nonce, txHash);
        return [{ name: 'e', accountId: 'a', agentWallet: null, correlationId: null, payload: {} }];
      },
    });
    expect(told).toEqual([nonceOf('p'), TX]);
    expect(book.store.events).toBe(1);
  });

  it('a vendor’s late answer is withheld where the chain shows the payment void, and the hold is released', async () => {
    const { book, pay, answers } = lateWorld({ kind: 'void' });
    const error = await refusalOf(pay());
    const { validBefore } = book.row('p');
    expect(error).toMatchObject({
      status: 502,
      error: 'upstream_payment_unsettled',
      fields: { reservation: { nonce: nonceOf('p'), validBefore } },
    });
    expect(answers).toMatchObject([{ isDiscarded: true, readBytes: 0 }]);
    expect(book.row('p').state).toBe('expired_unsettled');
    expect(book.funds).toMatchObject({ spendableRaw: 1_000_000n, heldRaw: 0n, promisedRaw: 0n });
  });

  it('a vendor’s late answer is withheld where the chain is undecided, and the money stays held', async () => {
    const { book, pay, answers } = lateWorld({ kind: 'undecided' });
    const error = await refusalOf(pay());
    const { validBefore } = book.row('p');
    expect(error).toMatchObject({
      status: 502,
      error: 'upstream_paid_request_failed_ambiguous',
      headers: { 'x-should-retry': 'false' },
      fields: { reservation: { nonce: nonceOf('p'), validBefore } },
    });
    expect(answers[0]?.isDiscarded).toBe(true);
    expect(book.row('p').state).toBe('pending_settlement');
    expect(book.funds).toMatchObject({ spendableRaw: 990_000n, heldRaw: 10_000n });
  });

  it('a vendor’s late redirect is relayed like any other late answer', async () => {
    const { pay, waits } = lateWorld(USED, { status: 302 });
    expect((await pay()).answer.status).toBe(302);
    expect(waits).toHaveLength(1);
  });

  it.each([402, 503])(
    'a vendor’s late failure (%i) does not wait for the chain and leaves the payment open',
    async (status) => {
      const { book, pay, waits } = lateWorld({ kind: 'void' }, { status });
      await refusalOf(pay());
      expect([waits, book.row('p').state]).toEqual([[], 'pending_settlement']);
    },
  );

  it('a vendor’s late answer is relayed while the ledger hangs over the settlement', async () => {
    const { book, pay } = lateWorld(USED);
    book.beforeStep = (step) => (step === 'settle' ? new Promise(() => {}) : undefined);
    const paying = pay();
    await letRun();
    book.clock.advance(PAYMENT_LIMITS.proxy.bookMs);
    expect((await paying).answer.status).toBe(200);
    expect(book.row('p').state).toBe('pending_settlement');
  });
});
