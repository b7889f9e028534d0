import { afterAll, beforeAll, expect, it } from 'vitest';
import { type PaymentWorld, startPaymentWorld, until } from '../support/payment-world.ts';

/** Nothing is decided by the chain: what is looked at is what the proxy itself has written. */
const UNSETTLED = { settle: 'never', answer: { kind: 'answer' } } as const;

let bench: PaymentWorld;
beforeAll(async () => {
  bench = await startPaymentWorld();
});
afterAll(() => bench[Symbol.asyncDispose]());

it('a payment reads as sent while its vendor is responding, and as pending after the response', async () => {
  const { vendor } = bench;
  const agent = await bench.payer('slow', 50_000n);
  const url = vendor.sell({ paid: { ...UNSETTLED, gated: true } });
  const paid = agent.fetch(url);
  await until(async () => vendor.nonces(url).length > 0);
  const [nonce] = vendor.nonces(url);
  const path = `/v1/agents/reservations/${nonce}`;
  await until(async () => (await agent.ask(path)).body.state === 'sent');
  const { sentAt, reservedAt } = (await agent.ask(path)).body;
  expect(Date.parse(String(sentAt))).toBeGreaterThanOrEqual(Date.parse(String(reservedAt)));
  vendor.release(url);
  expect((await paid).status).toBe(200);
  expect((await agent.ask(path)).body).toMatchObject({ state: 'pending_settlement', sentAt });
});

it('a payment that gets its response at once still has its sending time', async () => {
  const { vendor } = bench;
  const agent = await bench.payer('quick', 50_000n);
  const url = vendor.sell({ paid: UNSETTLED });
  expect((await agent.fetch(url)).status).toBe(200);
  const [nonce] = vendor.nonces(url);
  const told = (await agent.ask(`/v1/agents/reservations/${nonce}`)).body;
  expect(told.state).toBe('pending_settlement');
  expect(Date.parse(String(told.sentAt)) - Date.parse(String(told.reservedAt))).toBeLessThan(1_000);
});

it('many concurrent payments cause no process warning', async () => {
  const warnings: Error[] = [];
  const hear = (warning: Error) => warnings.push(warning);
  process.on('warning', hear);
  const { vendor } = bench;
  const agent = await bench.payer('many', 1_000_000n);
  const url = vendor.sell({ paid: { ...UNSETTLED, gated: true } });
  const calls = Array.from({ length: 20 }, () => agent.fetch(url));
  await until(async () => vendor.nonces(url).length === calls.length);
  vendor.release(url);
  expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(calls.map(() => 200));
  process.off('warning', hear);
  expect(warnings).toEqual([]);
});
