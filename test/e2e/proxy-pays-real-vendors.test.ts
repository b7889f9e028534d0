import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fromBase64 } from '../support/chain/hand-payer.ts';
import { startV1Vendor } from '../support/chain/vendor-v1.ts';
import { startExpressVendor, startHonoVendor } from '../support/chain/vendors.ts';
import {
  fundsOf,
  type PayingAgent,
  type PaymentWorld,
  startPaymentWorld,
  until,
} from '../support/payment-world.ts';

const PRICE_RAW = 12_345n;
const DEPOSIT_RAW = 100_000n;

let bench: PaymentWorld;
beforeAll(async () => {
  bench = await startPaymentWorld();
});
afterAll(() => bench[Symbol.asyncDispose]());

type Settled = { state: string; terminal: boolean; txHash: string; paymentAmountRaw: string };

/** What a lookup says once the chain has spoken. */
async function endOf(agent: PayingAgent, nonce: string): Promise<Settled> {
  const look = () => agent.ask(`/v1/agents/reservations/${nonce}`);
  await until(async () => (await look()).body.terminal === true);
  return (await look()).body as Settled;
}

const VENDORS = [
  ['version 2 on express', startExpressVendor, 'payment-signature', 'payment-response'],
  ['version 2 on hono', startHonoVendor, 'payment-signature', 'payment-response'],
  ['version 1 on express', startV1Vendor, 'x-payment', 'x-payment-response'],
] as const;

describe.each(VENDORS)('a published vendor of %s', (name, start, paymentHeader, receiptHeader) => {
  it('a published vendor gets its price once, and the agent gets its response with the receipt', async () => {
    const { chain, world } = bench;
    await using vendor = await start(chain, { priceRaw: PRICE_RAW });
    const agent = await bench.payer(name, DEPOSIT_RAW);
    const earned = await chain.usdcOf(vendor.payTo);

    const paid = await agent.fetch({
      url: `${vendor.url}?q=1`,
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-thing': 'kept' },
      body: '{"text":"héllo"}',
    });
    expect(paid.status).toBe(200);
    expect(paid.body).toMatchObject({
      method: 'POST',
      body: '{"text":"héllo"}',
      headers: { 'x-thing': 'kept', 'content-type': 'application/json' },
    });
    expect(paid.headers.get('x-svc-payment')).toBe('paid');
    expect(paid.headers.get('x-svc-cost-usdc')).toBe('12345');
    expect(paid.headers.get('x-svc-payment-amount')).toBe('0.012345');
    const receipt = fromBase64(paid.headers.get(receiptHeader) ?? '') as Record<string, unknown>;
    expect(receipt).toMatchObject({ success: true });
    expect(String(receipt.payer).toLowerCase()).toBe(agent.wallet);

    expect(vendor.handled).toHaveLength(1);
    const header = String(vendor.handled[0]?.headers[paymentHeader]);
    const { payload } = fromBase64(header) as {
      payload: { authorization: { nonce: string; value: string } };
    };
    expect(payload.authorization.value).toBe('12345');
    const end = await endOf(agent, payload.authorization.nonce);
    expect(end).toMatchObject({
      state: 'settled',
      paymentAmountRaw: '12345',
      txHash: receipt.transaction,
    });
    expect(await chain.usdcOf(vendor.payTo)).toBe(earned + PRICE_RAW);
    expect(await fundsOf(world.sql, agent.agentId)).toEqual({
      spendable: DEPOSIT_RAW - PRICE_RAW,
      wallet: DEPOSIT_RAW - PRICE_RAW,
      held: 0n,
      promised: 0n,
    });
  });
});

it('a vendor that settles and then fails makes the payment ambiguous, and the chain then settles it', async () => {
  const { chain, world } = bench;
  await using vendor = await startExpressVendor(chain, { upfront: true, priceRaw: PRICE_RAW });
  const agent = await bench.payer('upfront', DEPOSIT_RAW);
  const told = await agent.fetch(`${vendor.url}?status=503`);
  expect([told.status, told.body.error]).toEqual([502, 'upstream_paid_request_failed_ambiguous']);
  expect(told.headers.get('x-svc-payment')).toBeNull();
  const { nonce } = told.body.reservation as { nonce: string };
  expect(await endOf(agent, nonce)).toMatchObject({ state: 'settled' });
  expect(await fundsOf(world.sql, agent.agentId)).toMatchObject({
    spendable: DEPOSIT_RAW - PRICE_RAW,
    held: 0n,
  });
  expect(await chain.usdcOf(agent.wallet as `0x${string}`)).toBe(DEPOSIT_RAW - PRICE_RAW);
});

// The last one: the chain's time is ahead afterwards, and vendors go by the clock of their own.
it('a vendor that fails before it settles makes the payment ambiguous, until the chain shows it expired', async () => {
  const { chain, world } = bench;
  await using vendor = await startExpressVendor(chain, { priceRaw: PRICE_RAW });
  const agent = await bench.payer('not settled', DEPOSIT_RAW);
  const told = await agent.fetch(`${vendor.url}?status=503`);
  expect([told.status, told.body.error]).toEqual([502, 'upstream_paid_request_failed_ambiguous']);
  const { nonce, validBefore } = told.body.reservation as { nonce: string; validBefore: number };
  expect(await fundsOf(world.sql, agent.agentId)).toMatchObject({ held: PRICE_RAW });
  await chain.setNextTimestamp(validBefore);
  await chain.mine();
  expect(await endOf(agent, nonce)).toMatchObject({ state: 'expired_unsettled', txHash: null });
  expect(await fundsOf(world.sql, agent.agentId)).toEqual({
    spendable: DEPOSIT_RAW,
    wallet: DEPOSIT_RAW,
    held: 0n,
    promised: 0n,
  });
});
