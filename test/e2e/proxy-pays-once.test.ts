import { afterAll, beforeAll, expect, it } from 'vitest';
import { BATTERY } from '../support/chain/evil-vendor.ts';
import { fundsOf, type PaymentWorld, startPaymentWorld, until } from '../support/payment-world.ts';

let bench: PaymentWorld;
beforeAll(async () => {
  bench = await startPaymentWorld();
});
afterAll(() => bench[Symbol.asyncDispose]());

it('a vendor that demands a payment gets it once, and the agent gets the response with the price', async () => {
  const { vendor, world, chain } = bench;
  const agent = await bench.payer('plain', 50_000n);
  const url = vendor.sell({ priceRaw: 10_000n, paid: BATTERY.clean });
  const paid = await agent.fetch({ url, method: 'POST', body: '{"q":1}' });
  expect(paid.status).toBe(200);
  expect(paid.headers.get('x-svc-cost-usdc')).toBe('10000');
  expect(paid.headers.get('x-svc-payment-amount')).toBe('0.010000');
  expect(paid.headers.get('x-svc-payment')).toBe('paid');
  expect(vendor.nonces(url)).toHaveLength(1);
  const [nonce] = vendor.nonces(url);
  await until(async () => {
    const told = await agent.ask(`/v1/agents/reservations/${nonce}`);
    return told.status === 404 || told.body.state === 'settled';
  });
  await until(async () => (await fundsOf(world.sql, agent.agentId)).held === 0n);
  expect(await fundsOf(world.sql, agent.agentId)).toEqual({
    spendable: 40_000n,
    held: 0n,
    wallet: 40_000n,
    promised: 0n,
  });
  expect(await chain.usdcOf(agent.wallet as `0x${string}`)).toBe(40_000n);
});
