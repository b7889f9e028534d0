import { afterAll, beforeAll, expect, it } from 'vitest';
import { LIMITS } from '../../src/kernel/limits.ts';
import { connectEarlier } from '../support/mcp-client.ts';
import { fundsOf, type PaymentWorld, startPaymentWorld } from '../support/payment-world.ts';

let bench: PaymentWorld;
beforeAll(async () => {
  bench = await startPaymentWorld(
    {},
    { vendorTimes: { unpaidMs: 2_000, paidMs: 2_000, idleMs: 1_000 } },
  );
});
afterAll(() => bench[Symbol.asyncDispose]());

it('a vendor is paid through call_vendor once, however often the call is repeated', async () => {
  const agent = await bench.payer('tooled', 100_000n);
  await using session = await connectEarlier({ url: bench.world.url, key: agent.key });
  const url = bench.vendor.sell({
    priceRaw: 10_000n,
    paid: { settle: 'first', answer: { kind: 'answer', body: 'worth it' } },
  });
  const first = await session.call('call_vendor', { url, method: 'POST', body: { a: 1 } }, 'k1');
  expect(first.structuredContent).toMatchObject({
    ...{ status: 200, body: 'worth it', encoding: 'utf8', payment: 'paid' },
    ...{ costRaw: '10000', costUsdc: '0.010000' },
  });
  expect(first.content[0]?.text).toBe('worth it');
  const again = await session.call('call_vendor', { url, method: 'POST', body: { a: 1 } }, 'k1');
  expect(again.structuredContent).toEqual({ ...first.structuredContent, replayed: true });
  expect(bench.vendor.nonces(url)).toHaveLength(1);
  expect(bench.vendor.seen(url)[0]?.body.toString()).toBe('{"a":1}');

  await session.call('call_vendor', { url }, 'k2');
  expect(bench.vendor.nonces(url)).toHaveLength(2);
});

it('what a vendor answers is a result as it is; an unsure payment is a refusal that forbids a second try', async () => {
  const agent = await bench.payer('relaying', 100_000n);
  await using session = await connectEarlier({ url: bench.world.url, key: agent.key });
  const missing = bench.vendor.sell({
    unpaid: { answer: { kind: 'answer', status: 404, body: 'no' } },
  });
  expect(await session.call('call_vendor', { url: missing })).toMatchObject({
    ...{ isError: true, structuredContent: { status: 404, body: 'no', costRaw: '0' } },
  });
  const picture = bench.vendor.sell({
    unpaid: { answer: { kind: 'answer', body: Buffer.from([0, 255, 128]) } },
  });
  expect((await session.call('call_vendor', { url: picture })).structuredContent).toMatchObject({
    ...{ body: 'AP+A', encoding: 'base64', payment: 'passthrough' },
  });
  const long = bench.vendor.sell({
    unpaid: { answer: { kind: 'answer', body: 'ü'.repeat(LIMITS.mcp.answerBytes) } },
  });
  const { structuredContent: cut } = await session.call('call_vendor', { url: long });
  expect(cut).toMatchObject({ encoding: 'utf8', truncated: true });
  expect(Buffer.byteLength(String(cut.body))).toBe(LIMITS.mcp.answerBytes);

  const unsure = bench.vendor.sell({
    priceRaw: 10_000n,
    paid: { settle: 'never', answer: { kind: 'drop', after: 'request' } },
  });
  expect(await session.call('call_vendor', { url: unsure }, 'unsure')).toMatchObject({
    isError: true,
    structuredContent: {
      ...{ error: 'upstream_paid_request_failed_ambiguous', status: 502, mayRetry: false },
      reservation: { nonce: bench.vendor.nonces(unsure)[0] },
    },
  });
  expect(await fundsOf(bench.world.sql, agent.agentId)).toMatchObject({ held: 10_000n });

  const dear = bench.vendor.sell({ priceRaw: 1_000_000n });
  expect(await session.call('call_vendor', { url: dear })).toMatchObject({
    ...{ isError: true, structuredContent: { error: 'insufficient_balance', status: 402 } },
  });
  expect(bench.vendor.nonces(dear)).toHaveLength(0);
});
