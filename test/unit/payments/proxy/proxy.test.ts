import { describe, expect, it } from 'vitest';
import { IDEMPOTENCY_LIMITS } from '../../../../src/idempotency/limits.ts';
import { PAYMENT_LIMITS } from '../../../../src/payments/limits.ts';
import { SendFailed } from '../../../../src/platform/egress/send-failed.ts';
import { aPolicy } from '../../../support/a-policy.ts';
import { letRun, rest } from '../../../support/payment-book.ts';
import { demand, paymentIn, proxyWorld, type Vendor } from '../../../support/proxy-world.ts';

const AMBIGUOUS = 'upstream_paid_request_failed_ambiguous';

async function read(body: AsyncIterable<Uint8Array> | Uint8Array): Promise<string> {
  if (body instanceof Uint8Array) return Buffer.from(body).toString();
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

const refusal = (status: number, error: string, fields: object = {}) =>
  expect.objectContaining({ status, error, fields: expect.objectContaining(fields) });

const payments = ({ sent }: ReturnType<typeof proxyWorld>) =>
  sent.map(paymentIn).filter((payment) => payment !== undefined);

import { standingsReader } from '../../../support/standings.ts';

describe('a vendor that asks for no payment', () => {
  it.each([200, 204, 302, 404, 500, 503])(
    'a free answer with %i is relayed as it is, without a payment',
    async (status) => {
      const headers = [
        ['Location', 'http://10.0.0.1/'],
        ['X-Own', 'v'],
      ] as const;
      const world = proxyWorld({ unpaid: { status, headers, body: 'free' } });
      const answer = await world.send({ method: 'POST', body: 'q' });
      expect(answer).toMatchObject({
        status,
        lines: [
          ['location', 'http://10.0.0.1/'],
          ['x-own', 'v'],
        ],
        headers: { 'x-svc-cost-usdc': '0', 'x-svc-payment': 'passthrough' },
      });
      expect(await read(answer.body)).toBe('free');
      expect(world.opened).toEqual(['https://vendor.test/paid']);
      expect(world.sent).toHaveLength(1);
      expect([world.signed, world.book.holds]).toEqual([[], []]);
      expect(world.passed).toMatchObject([
        { agentId: 1, keyId: 1, method: 'POST', responseStatusCode: status },
      ]);
    },
  );

  it('a free answer with a Content-Length above the limit is refused without being read', async () => {
    const headers = [['Content-Length', String(PAYMENT_LIMITS.proxy.answerBytes + 1)]] as const;
    const world = proxyWorld({ unpaid: { headers } });
    await expect(world.send()).rejects.toEqual(
      refusal(502, 'upstream_response_too_large', {
        limit_bytes: PAYMENT_LIMITS.proxy.answerBytes,
      }),
    );
    expect(world.answers).toMatchObject([{ isDiscarded: true, readBytes: 0 }]);
  });

  it.each([
    ['HEAD', 200],
    ['GET', 304],
  ] as const)(
    'a vendor’s Content-Length above the limit is accepted where no body follows (%s, %i)',
    async (method, status) => {
      const headers = [['Content-Length', String(1e12)]] as const;
      const world = proxyWorld({ unpaid: { status, headers } });
      expect(await world.send({ method })).toMatchObject({ status });
    },
  );
});

describe('a vendor that asks for a payment', () => {
  it('a vendor that asks for a payment gets the same request with one, and the price is in the response headers', async () => {
    const world = proxyWorld({ paid: { status: 201, body: 'bought', headers: [['X-Own', 'v']] } });
    const answer = await world.send({
      method: 'PUT',
      body: { q: 1 },
      headers: { 'X-PAYMENT': 'x' },
    });
    expect(answer).toMatchObject({ status: 201, lines: [['x-own', 'v']] });
    expect(answer.headers).toEqual({
      'x-svc-cost-usdc': '10000',
      'x-svc-payment-amount': '0.010000',
      'x-svc-payment': 'paid',
    });
    expect(await read(answer.body)).toBe('bought');
    const [first, second] = world.sent;
    expect(world.sent).toHaveLength(2);
    expect(second?.destination).toBe(first?.destination);
    expect(second?.request).toMatchObject({ method: 'PUT', body: '{"q":1}' });
    expect(second?.request.headers.slice(0, -1)).toEqual(first?.request.headers);
    const [payment, ...others] = payments(world);
    expect([payment.payload.authorization.nonce, others]).toEqual([world.row().nonce, []]);
    expect(world.passed).toEqual([]);
    expect(world.opened).toHaveLength(1);
  });

  it('a vendor gets its payment after the hold is written, and the steps are reported in order', async () => {
    const heldThen: unknown[] = [];
    const world = proxyWorld({
      paid() {
        heldThen.push(world.row().state, world.book.funds.heldRaw);
        return { body: 'bought' };
      },
    });
    await world.send();
    expect(heldThen).toEqual(['reserved', 10_000n]);
    // It is booked meanwhile.
    expect(world.steps).toEqual(['reserved', 'sending', 'answered', 'answering', 'booked']);
  });

  it('a vendor gets no payment while the hold is not written', async () => {
    const world = proxyWorld();
    world.book.beforeStep = (step) => (step === 'hold' ? new Promise(() => {}) : undefined);
    void world.send();
    await letRun();
    expect(world.signed).toHaveLength(1);
    expect(payments(world)).toEqual([]);
  });

  it('a vendor gets no payment where the hold is refused, the ledger is away or the wallet does not sign', async () => {
    const poor = proxyWorld({ unpaid: demand({ amount: '1000001' }) });
    // It had more when it was looked at.
    poor.state.spendState = { ...poor.state.spendState, spendableRaw: 9_000_000n };
    await expect(poor.send()).rejects.toEqual(refusal(402, 'insufficient_balance'));
    const away = proxyWorld();
    away.book.beforeStep = () => Promise.reject(new Error('away'));
    await expect(away.send()).rejects.toEqual(refusal(500, 'Reservation persistence failed'));
    const unsigned = proxyWorld();
    unsigned.state.signing = new Error('away');
    await expect(unsigned.send()).rejects.toEqual(refusal(500, 'Payment signing failed'));
    for (const world of [poor, away, unsigned]) {
      expect(payments(world)).toEqual([]);
      expect(world.steps).toEqual([]);
      expect(world.book.live()).toEqual([]);
    }
  });

  it('a vendor gets no payment where its demand cannot be read', async () => {
    const world = proxyWorld({ unpaid: { status: 402, body: 'pay up' } });
    await expect(world.send()).rejects.toEqual(
      refusal(502, '402 response missing PAYMENT-REQUIRED header'),
    );
    expect([world.signed, payments(world)]).toEqual([[], []]);
  });

  it('a vendor that asks again after a payment gets no second one', async () => {
    const again = demand({ amount: '900000' });
    const world = proxyWorld({ paid: again });
    await expect(world.send()).rejects.toEqual(
      refusal(402, 'Payment was not accepted by resource server'),
    );
    expect([payments(world).length, world.signed.length]).toEqual([1, 1]);
  });

  it('a redirect in answer to a payment is relayed and not followed', async () => {
    const headers = [['Location', 'https://thief.test/']] as const;
    const world = proxyWorld({ paid: { status: 302, headers } });
    const answer = await world.send();
    expect(answer).toMatchObject({ status: 302, lines: [['location', 'https://thief.test/']] });
    expect(answer.headers['x-svc-payment']).toBe('paid');
    expect([world.opened.length, world.sent.length]).toEqual([1, 2]);
  });

  it('a paid answer above the size limit leaves the payment open, and the error names the reservation', async () => {
    const headers = [['Content-Length', String(PAYMENT_LIMITS.proxy.answerBytes + 1)]] as const;
    const world = proxyWorld({ paid: { headers } });
    const refused = await world.send().catch((error: unknown) => error);
    const { nonce, validBefore } = world.row();
    expect(refused).toEqual(refusal(502, AMBIGUOUS, { reservation: { nonce, validBefore } }));
    expect(world.answers.at(-1)).toMatchObject({ isDiscarded: true, readBytes: 0 });
  });

  it('a paid response carries the budget advisory of its agent', async () => {
    const world = proxyWorld();
    world.state.advisory = '{"near_limit":true}';
    const { headers } = await world.send();
    expect(headers['x-svc-budget-advisory']).toBe('{"near_limit":true}');
  });
});

describe('a call that is refused before anything is sent', () => {
  it('a proxy call of an unknown agent or beyond a cap is refused before anything is sent', async () => {
    const world = proxyWorld();
    await expect(world.send({}, { spendState: standingsReader(undefined) })).rejects.toMatchObject({
      status: 401,
    });
    const own = [[aPolicy({ kind: 'session', matchKey: null }), 1_000n]] as const;
    world.state.spendState = { ...world.state.spendState, own };
    await expect(world.send()).rejects.toMatchObject({ status: 402 });
    expect([world.sent, world.passed]).toEqual([[], []]);
  });

  it('a proxy call with an invalid header name is refused before a connection is opened', async () => {
    const world = proxyWorld();
    await expect(world.send({ headers: { 'a b': 'c' } })).rejects.toMatchObject({ status: 400 });
    expect(world.opened).toEqual([]);
  });
});

describe('a client that leaves', () => {
  it('a client that leaves before the vendor’s answer causes no payment', async () => {
    const world = proxyWorld({
      unpaid: async ({ request }) => {
        world.leave();
        expect(request.signal.aborted).toBe(true);
        throw new SendFailed('aborted', { beforeBytes: false });
      },
    });
    await expect(world.send()).rejects.toMatchObject({ status: 499 });
    expect(world.signed).toEqual([]);
  });

  it('a client that leaves while the demand is read causes no payment', async () => {
    const world = proxyWorld({
      unpaid: () => {
        world.leave();
        return demand({});
      },
    });
    await expect(world.send()).rejects.toMatchObject({ status: 499 });
    expect([world.signed, world.book.holds]).toEqual([[], []]);
  });

  it('a client that leaves while the payment is under way does not stop the paid call', async () => {
    const world = proxyWorld({
      paid: ({ request }) => {
        world.leave();
        expect(request.signal.aborted).toBe(false);
        return { body: 'bought' };
      },
    });
    expect(await read((await world.send()).body)).toBe('bought');
    expect(world.row()).toMatchObject({ state: 'pending_settlement', responseStatusCode: 200 });
  });
});

/** An answer of so many bytes, in pieces; one that breaks off does so behind them. */
async function* pieces(bytes: number, end?: Error) {
  for (let left = bytes; left > 0; left -= 65_536) yield Buffer.alloc(Math.min(left, 65_536), 'x');
  if (end !== undefined) throw end;
}

const BROKEN = new SendFailed('broken', { beforeBytes: false });

describe('the answer to a payment', () => {
  it.each([65_536, PAYMENT_LIMITS.proxy.answerBytes])(
    'a paid answer of %i bytes is streamed byte for byte',
    async (bytes) => {
      const world = proxyWorld({ paid: { body: pieces(bytes) } });
      const { body } = await world.send();
      expect(body).not.toBeInstanceOf(Uint8Array);
      expect(world.answers.at(-1)?.readBytes).toBe(0);
      expect((await read(body)).length).toBe(bytes);
    },
  );

  it('a paid answer under an idempotency key is buffered up to `idempotencyAnswerBytes` and streamed above', async () => {
    const most = IDEMPOTENCY_LIMITS.answerBytes;
    const kept = proxyWorld({ paid: { body: pieces(most) } });
    const { body } = await kept.send({ workId: 'work_1' });
    expect(body).toBeInstanceOf(Uint8Array);
    expect((await read(body)).length).toBe(most);
    expect(kept.row().holdId).toBe('work_1');
    const longer = proxyWorld({ paid: { body: pieces(most + 1) } });
    const { body: streamed } = await longer.send({ workId: 'work_1' });
    expect(streamed).not.toBeInstanceOf(Uint8Array);
    expect((await read(streamed)).length).toBe(most + 1);
  });

  it('a paid answer under an idempotency key that breaks off fails with 502 and names the reservation', async () => {
    const world = proxyWorld({ paid: { body: pieces(10, BROKEN) } });
    const refused = await world.send({ workId: 'work_1' }).catch((error: unknown) => error);
    const { nonce, validBefore } = world.row();
    expect(refused).toEqual(refusal(502, AMBIGUOUS, { reservation: { nonce, validBefore } }));
    await rest(world.book);
    expect(world.row().state).toBe('pending_settlement');
    expect(world.steps).not.toContain('answering');
  });

  it('a paid answer without an idempotency key breaks off where the vendor’s does', async () => {
    const world = proxyWorld({ paid: { body: pieces(10, BROKEN) } });
    const { body } = await world.send();
    await expect(read(body)).rejects.toBe(BROKEN);
  });

  it('the upstream time of a paid call leaves out the time of this server between the two requests', async () => {
    const took = (ms: number, stage: Vendor['paid']) => () => {
      world.book.clock.advance(ms);
      return stage as object;
    };
    const world = proxyWorld({ unpaid: took(300, demand({})), paid: took(500, {}) });
    world.book.beforeStep = (step) => {
      if (step === 'hold') world.book.clock.advance(7_000);
      return undefined;
    };
    expect((await world.send()).upstreamMs).toBe(800);
  });
});
