import { afterAll, beforeAll, expect, it } from 'vitest';
import { MCP_LIMITS } from '../../src/mcp/limits.ts';
import { connectEarlier, type ToolTold } from '../support/mcp-client.ts';
import { fundsOf, type PaymentWorld, startPaymentWorld } from '../support/payment-world.ts';

let bench: PaymentWorld;
beforeAll(async () => {
  bench = await startPaymentWorld(
    {},
    { vendorTimes: { unpaidMs: 2_000, paidMs: 2_000, idleMs: 1_000 } },
  );
});
afterAll(() => bench[Symbol.asyncDispose]());

/** The vendor's body, and what is said of it. */
const soldTo = ({ content, structuredContent }: ToolTold): Record<string, unknown> => {
  expect([content.length, structuredContent]).toEqual([2, undefined]);
  return { ...JSON.parse(content[1]?.text ?? ''), body: content[0]?.text };
};

it('a vendor is paid once through call_vendor, however often the call is repeated', async () => {
  const agent = await bench.payer('tooled', 100_000n);
  await using session = await connectEarlier({ url: bench.world.url, key: agent.key });
  const url = bench.vendor.sell({
    priceRaw: 10_000n,
    paid: { settle: 'first', answer: { kind: 'answer', body: 'worth it' } },
  });
  const first = await session.call('call_vendor', { url, method: 'POST', body: { a: 1 } }, 'k1');
  expect(soldTo(first)).toMatchObject({
    status: 200,
    body: 'worth it',
    encoding: 'utf8',
    payment: 'paid',
    costRaw: '10000',
    costUsdc: '0.010000',
  });
  const again = await session.call('call_vendor', { url, method: 'POST', body: { a: 1 } }, 'k1');
  expect(soldTo(again)).toEqual({ ...soldTo(first), replayed: true });
  expect(bench.vendor.nonces(url)).toHaveLength(1);
  expect(bench.vendor.seen(url)[0]?.body.toString()).toBe('{"a":1}');

  await session.call('call_vendor', { url }, 'k2');
  expect(bench.vendor.nonces(url)).toHaveLength(2);
});

it("call_vendor returns the vendor's response as its result, and an uncertain payment as a refusal that forbids a retry", async () => {
  const agent = await bench.payer('relaying', 100_000n);
  await using session = await connectEarlier({ url: bench.world.url, key: agent.key });
  const missing = bench.vendor.sell({
    unpaid: { answer: { kind: 'answer', status: 404, body: 'no' } },
  });
  const absent = await session.call('call_vendor', { url: missing });
  expect(absent.isError).toBe(true);
  expect(soldTo(absent)).toMatchObject({ status: 404, body: 'no', costRaw: '0' });
  const picture = bench.vendor.sell({
    unpaid: { answer: { kind: 'answer', body: Buffer.from([0, 255, 128]) } },
  });
  expect(soldTo(await session.call('call_vendor', { url: picture }))).toMatchObject({
    body: 'AP+A',
    encoding: 'base64',
    payment: 'passthrough',
  });
  const long = bench.vendor.sell({
    unpaid: { answer: { kind: 'answer', body: 'ü'.repeat(MCP_LIMITS.answerBytes) } },
  });
  const cut = soldTo(await session.call('call_vendor', { url: long }));
  expect(cut).toMatchObject({ encoding: 'utf8', truncated: true });
  expect(Buffer.byteLength(String(cut.body))).toBe(MCP_LIMITS.answerBytes);

  const unsure = bench.vendor.sell({
    priceRaw: 10_000n,
    paid: { settle: 'never', answer: { kind: 'drop', after: 'request' } },
  });
  expect(await session.call('call_vendor', { url: unsure }, 'unsure')).toMatchObject({
    isError: true,
    structuredContent: {
      error: 'upstream_paid_request_failed_ambiguous',
      status: 502,
      mayRetry: false,
      reservation: { nonce: bench.vendor.nonces(unsure)[0] },
    },
  });
  expect(await fundsOf(bench.world.sql, agent.agentId)).toMatchObject({ held: 10_000n });

  const dear = bench.vendor.sell({ priceRaw: 1_000_000n });
  expect(await session.call('call_vendor', { url: dear })).toMatchObject({
    isError: true,
    structuredContent: { error: 'insufficient_balance', status: 402 },
  });
  expect(bench.vendor.nonces(dear)).toHaveLength(0);
});

const batchOf = (url: string, length: number) =>
  Array.from({ length }, (_, id) => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name: 'call_vendor', arguments: { url } },
  }));

it.each([
  ['control characters', '\x01', 'base64', 3],
  ['quotes', '"', 'utf8', 2],
])(
  'a batch of vendors who answer a megabyte of %s gives a response of a few megabytes',
  async (_, char, encoding, most) => {
    const agent = await bench.payer(`batching ${encoding}`, 100_000n);
    const body = char.repeat(MCP_LIMITS.answerBytes);
    const url = bench.vendor.sell({ unpaid: { answer: { kind: 'answer', body } } });
    const reply = await fetch(`${bench.world.url}/v1/mcp`, {
      method: 'POST',
      headers: { authorization: `Bearer ${agent.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(batchOf(url, MCP_LIMITS.batch)),
    });
    const text = await reply.text();
    expect(Buffer.byteLength(text)).toBeLessThan(MCP_LIMITS.resultBytes + 64 * 1024);
    const results = (JSON.parse(text) as { result: ToolTold }[]).map(({ result }) => result);
    const [fit, left] = [true, false].map((fits) =>
      results.filter(({ isError }) => (isError === undefined) === fits),
    );
    expect([fit?.length, left?.length]).toEqual([most, MCP_LIMITS.batch - most]);
    for (const result of fit ?? []) {
      const told = soldTo(result);
      expect(told).toMatchObject({ status: 200, encoding });
      expect(
        Buffer.from(String(told.body), encoding as BufferEncoding).equals(Buffer.from(body)),
      ).toBe(true);
    }
    for (const { structuredContent } of left ?? []) {
      expect(structuredContent).toMatchObject({ error: 'tool_results_too_large', costRaw: '0' });
    }
  },
);
