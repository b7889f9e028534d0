import { describe, expect, it } from 'vitest';
import type { ApiError } from '../../../../src/kernel/api-error.ts';
import { PAYMENT_LIMITS } from '../../../../src/payments/limits.ts';
import { VENDOR_TIMES } from '../../../../src/payments/proxy/vendor-call.ts';
import { BadRequestHeader, SendFailed } from '../../../../src/platform/egress/send-failed.ts';
import { X402_LIMITS } from '../../../../src/x402/limits.ts';
import { payWorld } from '../../../support/pay-world.ts';
import { letRun, rest } from '../../../support/payment-book.ts';
import { nonceOf } from '../../../support/payments.ts';

const AMBIGUOUS = 'upstream_paid_request_failed_ambiguous';
const HELD = { spendableRaw: 990_000n, heldRaw: 10_000n, promisedRaw: 10_000n };
const RELEASED = { spendableRaw: 1_000_000n, heldRaw: 0n, promisedRaw: 0n };

const refused = async (paying: Promise<unknown>): Promise<ApiError> => {
  const error = await paying.catch((caught: unknown) => caught);
  if (!(error instanceof Error)) throw new Error('it was not refused');
  return error as ApiError;
};

const settlement = (transaction: string) => {
  const says = { success: true, transaction, network: 'base', payer: `0x${'a1'.repeat(20)}` };
  return ['PAYMENT-RESPONSE', Buffer.from(JSON.stringify(says)).toString('base64')] as const;
};

describe('the request with its payment', () => {
  it('the paid request repeats the first request with a payment header and the time limits of a paid call', async () => {
    const { pay, sent, header } = payWorld();
    await pay();
    expect(sent).toHaveLength(1);
    const [only] = sent;
    expect(only?.destination.url).toBe('https://vendor.test/paid');
    expect(only?.request).toMatchObject({
      method: 'POST',
      body: '{"q":1}',
      headers: [
        ['accept', 'text/plain'],
        [header.name, header.value],
      ],
      timeouts: { totalMs: VENDOR_TIMES.paidMs, firstByteMs: VENDOR_TIMES.paidMs },
      maxResponseBytes: PAYMENT_LIMITS.proxy.answerBytes,
    });
    expect(only?.request.signal.aborted).toBe(false);
  });

  it('a paid request passes the steps sending, answered and booked in this order', async () => {
    const { pay, steps } = payWorld();
    await pay();
    expect(steps).toEqual(['sending', 'answered', 'booked']);
  });

  it.each([
    ['by its answer alone where that is quick', 0, 1],
    ['before it where the vendor takes its time', PAYMENT_LIMITS.proxy.sentMs, 2],
  ])('a payment to a vendor is marked as sent %s', async (_, takesMs, steps) => {
    const { book, pay } = payWorld({}, { takesMs });
    let advances = 0;
    book.beforeStep = (step) => {
      if (step === 'advance') advances++;
      return undefined;
    };
    await pay();
    expect(advances).toBe(steps);
    expect(book.row('p')).toMatchObject({
      state: 'pending_settlement',
      sentMs: expect.any(Number),
    });
  });

  it('a payment is sent and booked although the ledger cannot write that it was sent', async () => {
    const { book, pay, lines } = payWorld({}, { takesMs: 1_000 });
    let advances = 0;
    book.beforeStep = (step) =>
      step === 'advance' && ++advances === 1 ? Promise.reject(new Error('away')) : undefined;
    await pay();
    expect(book.row('p').state).toBe('pending_settlement');
    expect(lines).toMatchObject([{ msg: 'a step of a payment was not written' }]);
  });
});

describe('a vendor that takes the payment', () => {
  it.each([200, 201, 204, 302, 399])(
    'an answer with %i to a payment is relayed as it is, and the payment stays held until the chain decides',
    async (status) => {
      const { book, pay, answers, waits } = payWorld({ status, body: 'bought' });
      const { answer, row } = await pay();
      expect(answer).toBe(answers[0]);
      expect(answers).toMatchObject([{ status, isDiscarded: false, readBytes: 0 }]);
      expect(row).toMatchObject({ nonce: nonceOf('p'), valueRaw: 10_000n });
      expect(book.row('p')).toMatchObject({
        state: 'pending_settlement',
        responseStatusCode: status,
        refused: false,
        sentMs: expect.any(Number),
      });
      expect(book.funds).toMatchObject(HELD);
      expect(waits).toEqual([]);
    },
  );

  it('a vendor’s claim of a settlement is stored and settles nothing', async () => {
    const txHash = `0x${'ab'.repeat(32)}`;
    const { book, pay } = payWorld({ headers: [settlement(txHash)] });
    await pay();
    expect(book.row('p')).toMatchObject({ state: 'pending_settlement', txHash });
    expect(book.funds).toMatchObject(HELD);
  });

  it('the latency of a paid call is measured from sending the payment to the response headers', async () => {
    const { book, pay } = payWorld({}, { takesMs: 1_234 });
    await pay();
    expect(book.row('p').latencyMs).toBe(1_234);
  });

  it('a vendor’s answer is relayed while the ledger hangs, and booked once the ledger answers', async () => {
    const { book, pay, steps } = payWorld({ body: 'bought' });
    let goOn = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    book.beforeStep = (step) => (step === 'advance' ? held : undefined);
    expect((await pay()).answer.status).toBe(200);
    expect(steps).toEqual(['sending', 'answered']);
    goOn();
    await rest(book);
    expect(book.row('p').state).toBe('pending_settlement');
    expect(book.store.violations()).toEqual([]);
  });

  it('a vendor’s answer is relayed although the ledger refuses to book it', async () => {
    const { book, pay, lines } = payWorld({ body: 'bought' });
    book.beforeStep = (step) =>
      step === 'advance' ? Promise.reject(new Error('away')) : undefined;
    expect((await pay()).answer.status).toBe(200);
    expect(book.row('p').state).toBe('reserved');
    expect(book.funds).toMatchObject(HELD);
    expect(lines.map(({ msg }) => msg)).toContain(
      'the answer to a payment was not written; the chain decides',
    );
  });
});

describe('a vendor that says it does not take the payment', () => {
  it.each([400, 402, 404, 429, 499])(
    'a vendor that refuses a payment with %i is reported with its status, and the hold stays',
    async (status) => {
      const body = JSON.stringify({ x402Version: 1, error: 'insufficient_funds', accepts: [] });
      const { book, pay, answers } = payWorld({ status, body });
      const error = await refused(pay());
      expect(error).toMatchObject({
        status,
        error: 'Payment was not accepted by resource server',
        headers: { 'x-should-retry': 'false' },
      });
      const { validBefore } = book.row('p');
      expect(error.fields).toMatchObject({
        detail: 'insufficient_funds',
        reservation: { nonce: nonceOf('p'), validBefore },
      });
      expect(book.row('p')).toMatchObject({
        state: 'pending_settlement',
        refused: true,
        responseStatusCode: status,
      });
      expect(book.funds).toMatchObject(HELD);
      expect(answers[0]?.isDiscarded).toBe(true);
    },
  );

  it('a vendor’s long reason to refuse a payment is cut to `vendorReasonChars`', async () => {
    const { pay } = payWorld({ status: 402, body: JSON.stringify({ error: 'no '.repeat(9_999) }) });
    const { fields } = await refused(pay());
    expect(String(fields.detail).length).toBeLessThanOrEqual(X402_LIMITS.reasonChars);
  });

  it.each([
    ['nothing', ''],
    ['a page', '<html>no</html>'],
    ['more than the proxy reads', 'x'.repeat(X402_LIMITS.challengeBodyBytes + 1)],
  ])(
    'a vendor that refuses a payment and says %s is reported with its status alone',
    async (_, body) => {
      const { book, pay } = payWorld({ status: 403, body });
      const { fields } = await refused(pay());
      expect(fields.detail).toBe('The vendor answered 403.');
      expect(book.row('p').refused).toBe(true);
    },
  );

  it('a refusal of a payment that breaks off in the middle is reported with its status', async () => {
    async function* broken() {
      yield Buffer.from('{"error":');
      throw new SendFailed('broken', { beforeBytes: false });
    }
    const { book, pay } = payWorld({ status: 402, body: broken() });
    expect(await refused(pay())).toMatchObject({ status: 402 });
    expect(book.row('p').state).toBe('pending_settlement');
  });
});

describe('a vendor that fails with the payment in hand', () => {
  it.each([500, 503, 599])(
    'a vendor that answers %i to a payment leaves the payment open and its money held',
    async (status) => {
      const { book, pay, answers } = payWorld({ status, body: 'sorry' });
      const error = await refused(pay());
      expect(error).toMatchObject({ status: 502, error: AMBIGUOUS });
      const { validBefore } = book.row('p');
      expect(error.fields).toMatchObject({ reservation: { nonce: nonceOf('p'), validBefore } });
      expect(book.row('p')).toMatchObject({
        state: 'pending_settlement',
        refused: false,
        responseStatusCode: status,
      });
      expect(book.funds).toMatchObject(HELD);
      expect(answers).toMatchObject([{ isDiscarded: true, readBytes: 0 }]);
    },
  );

  it.each([
    ...['timeout', 'broken', 'aborted', 'tls'].map(
      (reason) => [reason, new SendFailed(reason as 'tls', { beforeBytes: false })] as const,
    ),
    ['a bug of ours', new TypeError('bug')] as const,
  ])(
    'a vendor that gives no whole answer to a payment (%s) leaves the payment open and its money held',
    async (_, failure) => {
      const { book, pay, steps } = payWorld(failure);
      const error = await refused(pay());
      expect(error).toMatchObject({ status: 502, error: AMBIGUOUS });
      expect(error.fields).toMatchObject({ reservation: { nonce: nonceOf('p') } });
      expect(book.row('p').state).toBe('pending_settlement');
      expect(book.funds).toMatchObject(HELD);
      expect(steps).toEqual(['sending', 'booked']);
    },
  );
});

describe('a payment of which not a byte has left', () => {
  it.each([
    ['the vendor is out of reach', new SendFailed('unreachable', { beforeBytes: true })],
    ['there is no connection for it', new SendFailed('busy', { beforeBytes: true })],
    ['it has no room beside the other headers', new BadRequestHeader('the headers are too large')],
  ])('a payment of which no byte was sent because %s is released at once', async (_, failure) => {
    const { book, pay } = payWorld(failure);
    const slow = payWorld(failure, { takesMs: 5_000 });
    await refused(slow.pay());
    expect(slow.book.row('p').state).toBe('released');
    const error = await refused(pay());
    expect(error).toMatchObject({ status: 502, error: 'Failed to reach target URL' });
    expect(error.fields.reservation).toBeUndefined();
    expect(error.fields.detail).toMatch(/nothing was paid\.$/);
    expect(book.row('p').state).toBe('released');
    expect(book.funds).toMatchObject(RELEASED);
    expect(book.store.violations()).toEqual([]);
  });

  it('a payment that was never sent is reported while the ledger hangs, and released once the ledger answers', async () => {
    const { book, pay } = payWorld(new SendFailed('unreachable', { beforeBytes: true }));
    let goOn = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    book.beforeStep = (step) => (step === 'settle' ? held : undefined);
    const paying = refused(pay());
    await letRun();
    book.clock.advance(PAYMENT_LIMITS.proxy.bookMs);
    expect(await paying).toMatchObject({ status: 502 });
    goOn();
    await letRun();
    expect(book.row('p').state).toBe('released');
  });
});
