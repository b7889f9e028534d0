import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { OpenedAnswer } from '../../../../../src/models/providers/open-answer.ts';
import { failed, type Outcome } from '../../../../../src/models/providers/outcome.ts';
import type {
  PaidOutcome,
  PaidRequest,
  PaymentBudget,
} from '../../../../../src/models/providers/paid-calls.ts';
import {
  type SentRequest,
  UPSTREAM_LIMITS,
} from '../../../../../src/models/providers/upstream-pool.ts';
import { createPaidPool } from '../../../../../src/models/providers/x402/paid-pool.ts';
import { proxyErrors } from '../../../../../src/payments/errors.ts';
import { SendFailed } from '../../../../../src/platform/egress/send-failed.ts';
import {
  type FakeAnswer,
  fakeAnswer,
  type ScriptedAnswer,
} from '../../../../support/fakes/scripted-client.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';

const BUDGET: PaymentBudget = {
  spender: { agentId: 1 },
  maker: 'acme',
  mostRaw: 9n,
  holdId: 'work_1:pay',
};
const PAYMENT = { nonce: '0xab', validBefore: 90, paidRaw: 7n };
const STAYS = new AbortController().signal;
const said = (text: string): Outcome<{ text: string }> => ({
  kind: 'completed',
  status: 200,
  text,
});

/** A pool whose payments end as the test says. */
function pool(
  told: (request: PaidRequest) => PaidOutcome,
  baseUrl = 'https://router.test/v1/?k=1',
) {
  const asked: PaidRequest[] = [];
  const paidCalls = {
    async send(request: PaidRequest) {
      asked.push(request);
      return told(request);
    },
  };
  const headers = { accept: '*/*' };
  const made = createPaidPool({
    paidCalls,
    baseUrl,
    path: '/things',
    headers,
    clock: new ManualClock(),
  });
  const whole = (sent: Partial<SentRequest> = {}, signal = STAYS) =>
    made.whole(
      () => ({ body: '{}', paymentMethod: { budget: BUDGET }, ...sent }),
      signal,
      ({ body }) => said(body.toString('utf8')),
    );
  return { asked, made, whole };
}

const answered = (script: ScriptedAnswer, payment: typeof PAYMENT | undefined = PAYMENT) => {
  const answer = fakeAnswer(script);
  return { told: (): PaidOutcome => ({ kind: 'answered', answer, payment }), answer };
};

async function* cut(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('half');
  throw new SendFailed('broken', { beforeBytes: false });
}

describe('what is asked of an upstream that is paid call by call', () => {
  it('an x402 upstream request names the payer, the URL and the limits', async () => {
    const { asked, whole } = pool(answered({}).told);
    await whole({ headers: { 'content-type': 'text/plain' } });
    const { idleMs, totalMs, responseBytes } = UPSTREAM_LIMITS;
    expect(asked).toMatchObject([
      {
        ...BUDGET,
        url: 'https://router.test/v1/things?k=1',
        body: '{}',
        idleMs,
        totalMs,
        responseBytes,
      },
    ]);
    expect(asked[0]?.headers).toEqual([
      ['content-type', 'text/plain'],
      ['accept', '*/*'],
    ]);
  });

  it('an x402 upstream request is read whole before it is sent, since it is sent twice', async () => {
    const { asked, whole } = pool(answered({}).told);
    await whole({ body: Readable.from([Buffer.from('ab'), Buffer.from('cd')]) });
    expect(asked[0]?.body).toEqual(Buffer.from('abcd'));
  });

  it('an x402 upstream request that cannot be serialized is not sent', async () => {
    const { asked, made } = pool(answered({}).told);
    const tooDeep = () => {
      throw new RangeError('deep');
    };
    const outcome = await made.whole(tooDeep, STAYS, () => said(''));
    expect([outcome.kind, asked]).toEqual(['unfit', []]);
  });
});

describe('a paid answer', () => {
  it('an x402 response says what was paid for it, and 0 when it was free', async () => {
    const bought = { kind: 'completed', status: 200, text: 'bought' };
    expect(await pool(answered({ body: 'bought' }).told).whole()).toMatchObject({
      ...bought,
      paidRaw: 7n,
    });
    const free = answered({ body: 'bought' });
    const told = (): PaidOutcome => ({ kind: 'answered', answer: free.answer, payment: undefined });
    expect(await pool(told).whole()).toMatchObject({ ...bought, paidRaw: 0n });
  });

  it('an x402 response is read to its end even when the client has left', async () => {
    const { told } = answered({ body: 'bought' });
    const { whole } = pool(told);
    expect(await whole({}, AbortSignal.abort())).toMatchObject({ kind: 'completed' });
  });

  it.each([
    ['breaks off', { body: cut() }],
    ['is a redirect', { status: 302 }],
    ['is longer than may be read', { body: Buffer.alloc(UPSTREAM_LIMITS.responseBytes + 1) }],
  ])(
    'an x402 response that %s is spent, and the error names its reservation',
    async (_, script) => {
      const { told, answer } = answered(script);
      const outcome = await pool(told).whole();
      const { nonce, validBefore } = PAYMENT;
      expect(outcome).toMatchObject({
        kind: 'spent',
        refusal: { status: 502, fields: { reservation: { nonce, validBefore } } },
      });
      expect((answer as FakeAnswer).isDiscarded).toBe(true);
    },
  );

  it('an opened x402 response is streamed, and discarded when its reader stops', async () => {
    const { told, answer } = answered({
      headers: [
        ['Content-Type', 'a/b'],
        ['content-type', 'c/d'],
      ],
      body: 'on',
    });
    let opened: OpenedAnswer | undefined;
    const outcome = await pool(told).made.opened(
      () => ({ body: '', paymentMethod: { budget: BUDGET } }),
      STAYS,
      async (given) => {
        opened = given;
        return said('begun');
      },
    );
    expect([outcome.kind, opened?.headers]).toEqual(['completed', { 'content-type': 'a/b' }]);
    expect(answer.isDiscarded).toBe(false);
    opened?.stop();
    expect(answer.isDiscarded).toBe(true);
  });

  it('an opened x402 response that turns out to be invalid is spent', async () => {
    const opened = pool(answered({ body: 'on' }).told).made.opened(
      () => ({ body: '', paymentMethod: { budget: BUDGET } }),
      STAYS,
      async () => failed('broken', 'not a stream'),
    );
    expect(await opened).toMatchObject({ kind: 'spent', refusal: { status: 502 } });
  });
});

describe('what was not paid', () => {
  it.each([
    [{ status: 500 }, { kind: 'failed', failure: 'broken' }],
    [{ status: 429, headers: [['retry-after', '7']] as const }, { retryAfterSeconds: 7 }],
    [
      { status: 404, body: 'no' },
      { kind: 'declined', status: 404, body: Buffer.from('no') },
    ],
    [{ body: cut() }, { kind: 'failed', failure: 'unreachable' }],
  ])('an unpaid x402 response of %o is handled as at any other source', async (script, outcome) => {
    const answer = fakeAnswer(script);
    const told = (): PaidOutcome => ({ kind: 'answered', answer, payment: undefined });
    expect(await pool(told).whole()).toMatchObject(outcome);
  });

  it('an x402 outcome without a response is passed on unchanged', async () => {
    const refusal = { reason: 'insufficient_balance', availableRaw: 1n, requiredRaw: 2n } as const;
    const spent = { kind: 'spent', refusal: proxyErrors.reservationNotFound() } as const;
    const poor = { kind: 'unaffordable', refusal } as const;
    for (const told of [poor, spent, { kind: 'aborted' } as const]) {
      expect(await pool(() => told).whole()).toBe(told);
    }
    const dear = { kind: 'unpaid', failure: 'too_dear', detail: '8 of 7' } as const;
    expect(await pool(() => dear).whole()).toEqual(failed('too_dear', '8 of 7'));
  });
});
