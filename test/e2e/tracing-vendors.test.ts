import { afterAll, beforeAll, expect, it } from 'vitest';
import { BATTERY } from '../support/chain/evil-vendor.ts';
import { type OtlpCollector, otlpCollector } from '../support/otlp-collector.ts';
import { type PaymentWorld, startPaymentWorld } from '../support/payment-world.ts';

let collector: OtlpCollector;
let bench: PaymentWorld;
beforeAll(async () => {
  collector = await otlpCollector();
  bench = await startPaymentWorld({
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.baseUrl}/traces`,
  });
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
  await collector[Symbol.asyncDispose]();
});

it('a paid call is traced as a span with its vendor, its hold and its charge, and a failed call has no cost', async () => {
  const { vendor } = bench;
  const agent = await bench.payer('traced', 50_000n);
  const secret = 'token=s3cr3t';
  const paid = vendor.sell({ priceRaw: 10_000n, paid: BATTERY.clean });
  const answer = await agent.fetch({ url: paid, method: 'POST', body: secret });
  expect(answer.status).toBe(200);
  const span = await collector.awaited(({ name }) => name === 'vendor POST');
  const server = await collector.awaited(({ name }) => name === 'POST /v1/proxy/fetch');
  expect(span).toMatchObject({
    parentId: server.spanId,
    kind: 'client',
    isError: false,
    attributes: {
      'http.response.status_code': 200,
      'svc.cost_raw': Number(answer.headers.get('x-svc-cost-usdc')),
      'svc.agent.id': agent.agentId,
    },
  });
  const [{ nonce } = { nonce: '' }] = await bench.world.sql<{ nonce: string }[]>`
    select nonce from reservations where agent_id = ${agent.agentId}`;
  expect(nonce).toBe(vendor.nonces(paid)[0]);
  expect(span.attributes['svc.hold.id']).toBeTypeOf('string');

  const lost = await agent.fetch({ url: `http://127.0.0.1:9/gone?${secret}` });
  expect(lost.status).toBeGreaterThanOrEqual(400);
  const failed = await collector.awaited(({ name }) => name === 'vendor GET');
  expect(failed).toMatchObject({ isError: true });
  expect(failed.attributes).not.toHaveProperty('svc.cost_raw');
  const kept = JSON.stringify(
    collector.spans.map(({ attributes, name }) => ({ attributes, name })),
  );
  expect(kept).not.toContain('s3cr3t');
  expect(vendor.seen(paid).flatMap(({ headers }) => Object.keys(headers ?? {}))).not.toContain(
    'traceparent',
  );
});
