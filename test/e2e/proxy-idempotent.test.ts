import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { fundsOf, type PaymentWorld, startPaymentWorld } from '../support/payment-world.ts';
import { ask } from '../support/whole-world.ts';

let bench: PaymentWorld;
beforeAll(async () => {
  bench = await startPaymentWorld(
    {},
    { vendorTimes: { unpaidMs: 2_000, paidMs: 2_000, idleMs: 1_000 } },
  );
});
afterAll(() => bench[Symbol.asyncDispose]());

const raw = (key: string, url: string, idempotencyKey: string, signal?: AbortSignal) =>
  fetch(`${bench.world.url}/v1/proxy/fetch`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'idempotency-key': idempotencyKey,
    },
    body: JSON.stringify({ url }),
    ...(signal && { signal }),
  });

/** Everything an answer says, but when it was said. */
async function wholeOf(answer: Response) {
  const headers = [...answer.headers].filter(
    ([name]) => !['date', 'x-svc-idempotent-replay'].includes(name),
  );
  return { status: answer.status, headers, body: await answer.text() };
}

it('an Idempotency-Key replays the paid response byte for byte, multi-value headers included, and pays nothing again', async () => {
  const agent = await bench.payer('repeating', 100_000n);
  const url = bench.vendor.sell({
    priceRaw: 10_000n,
    paid: {
      settle: 'first',
      answer: {
        kind: 'answer',
        headers: [
          ['set-cookie', 'a=1; Path=/'],
          ['set-cookie', 'b=2'],
          ['x-svc-cost-usdc', '0'],
          ['x-vendor', 'grüezi'],
        ],
        body: Buffer.from([0, 255, 10, 13, 0, 128]),
      },
    },
  });
  const first = await raw(agent.key, url, 'k1');
  expect(first.headers.getSetCookie()).toEqual(['a=1; Path=/', 'b=2']);
  expect(first.headers.get('x-svc-cost-usdc')).toBe('10000');
  const kept = await wholeOf(first);
  const second = await raw(agent.key, url, 'k1');
  expect(second.headers.get('x-svc-idempotent-replay')).toBe('true');
  expect(second.headers.getSetCookie()).toEqual(['a=1; Path=/', 'b=2']);
  const replayed = await wholeOf(second);
  expect(replayed.body).toBe(kept.body);
  const id = first.headers.get('x-request-id');
  expect(id).toMatch(/^req_[0-9a-f]{24}$/);
  expect(second.headers.get('x-request-id')).toBe(id);
  expect(replayed.status).toBe(kept.status);
  expect(bench.vendor.nonces(url)).toHaveLength(1);
  expect((await raw(agent.key, url, 'k2')).status).toBe(200);
  expect(bench.vendor.nonces(url)).toHaveLength(2);
});

it('of twenty concurrent proxy requests under one Idempotency-Key one is sent, and the others are told to wait', async () => {
  const agent = await bench.payer('crowding', 100_000n);
  const url = bench.vendor.sell({
    priceRaw: 10_000n,
    paid: { settle: 'first', gated: true, answer: { kind: 'answer' } },
  });
  const told: number[] = [];
  const answers = Array.from({ length: 20 }, async () => {
    const { status } = await raw(agent.key, url, 'crowd');
    told.push(status);
  });
  // The one that is sent is answered when each of the others has its answer, so that none of them finds a kept one.
  await vi.waitUntil(() => told.length === 19, { timeout: 30_000, interval: 10 });
  bench.vendor.release(url);
  await Promise.all(answers);
  expect(told).toEqual([...Array.from({ length: 19 }, () => 409), 200]);
  expect(bench.vendor.nonces(url)).toHaveLength(1);
});

it("a client that leaves after the payment finds the vendor's response under its Idempotency-Key", async () => {
  const agent = await bench.payer('leaving', 100_000n);
  const url = bench.vendor.sell({
    priceRaw: 10_000n,
    paid: { settle: 'first', afterMs: 600, answer: { kind: 'answer', body: 'worth it' } },
  });
  const left = new AbortController();
  const going = raw(agent.key, url, 'gone', left.signal).catch(() => 'left');
  while (bench.vendor.nonces(url).length === 0) await new Promise((r) => setTimeout(r, 10));
  left.abort();
  expect(await going).toBe('left');
  let answer = await raw(agent.key, url, 'gone');
  while (answer.status === 409) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    answer = await raw(agent.key, url, 'gone');
  }
  expect([answer.status, await answer.text()]).toEqual([200, 'worth it']);
  expect(bench.vendor.nonces(url)).toHaveLength(1);
});

it('an ambiguous payment is replayed under its Idempotency-Key with the same reservation', async () => {
  const agent = await bench.payer('unsure', 100_000n);
  const url = bench.vendor.sell({
    priceRaw: 10_000n,
    paid: { settle: 'never', answer: { kind: 'drop', after: 'request' } },
  });
  const first = await raw(agent.key, url, 'unsure');
  const told = (await first.json()) as { error: string; reservation: { nonce: string } };
  expect([first.status, told.error]).toEqual([502, 'upstream_paid_request_failed_ambiguous']);
  const again = await raw(agent.key, url, 'unsure');
  expect(await again.json()).toEqual(told);
  expect(bench.vendor.nonces(url)).toEqual([told.reservation.nonce]);
  expect(await fundsOf(bench.world.sql, agent.agentId)).toMatchObject({ held: 10_000n });
});

it('a vendor body that breaks off after the payment is reported as ambiguous under an Idempotency-Key', async () => {
  const agent = await bench.payer('broken', 100_000n);
  const url = bench.vendor.sell({
    priceRaw: 10_000n,
    paid: { settle: 'first', answer: { kind: 'drop', after: 'half-body' } },
  });
  const first = await raw(agent.key, url, 'half');
  expect([first.status, ((await first.json()) as { error: string }).error]).toEqual([
    502,
    'upstream_paid_request_failed_ambiguous',
  ]);
});

it("the proxy passes on a vendor's status, empty or binary body, and the agent’s own headers except payment headers", async () => {
  const agent = await bench.payer('plain', 100_000n);
  for (const status of [204, 304, 404, 500, 418]) {
    const url = bench.vendor.sell({ unpaid: { answer: { kind: 'answer', status, body: '' } } });
    const told = await agent.fetch({
      url,
      method: 'PUT',
      body: 'x',
      headers: {
        'x-mine': 'yes',
        'X-Payment': 'forged',
        'Payment-Signature': 'forged',
        connection: 'x-mine',
      },
    });
    expect([told.status, told.headers.get('x-svc-payment')]).toEqual([status, 'passthrough']);
    const [seen] = bench.vendor.seen(url);
    expect(seen?.headers['x-mine']).toBe('yes');
    expect(seen?.headers['x-payment'] ?? seen?.headers['payment-signature']).toBeUndefined();
    expect(seen?.body.toString()).toBe('x');
  }
  const head = await agent.fetch({ url: `${bench.vendor.origin}/anything`, method: 'HEAD' });
  expect(head.status).toBe(200);
  const rows = await ask(`${bench.world.url}/v1/agents/balance`, {
    headers: { authorization: `Bearer ${agent.key}` },
  });
  expect(rows.body.spendableRaw).toBe('100000');
});
