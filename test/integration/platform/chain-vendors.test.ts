import { numberToHex } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { account, type Chain, startChain } from '../../support/chain/chain.ts';
import { ask, challengeIn, fromBase64, payFirstOffer } from '../../support/chain/hand-payer.ts';
import type { Vendor } from '../../support/chain/vendor.ts';
import { startV1Vendor } from '../../support/chain/vendor-v1.ts';
import { startExpressVendor, startHonoVendor } from '../../support/chain/vendors.ts';

const wallet = account(3);

let chain: Chain;
beforeAll(async () => {
  chain = await startChain();
  await chain.fundUsdc(wallet.address, 1_000_000_000n);
});
afterAll(() => chain[Symbol.asyncDispose]());

let nonces = 0;
/** Vendors check the end by their own clock, and the chain by the next block's. */
const soon = () => ({
  validBefore: BigInt(Math.floor(Date.now() / 1_000) + 90),
  nonce: numberToHex(++nonces, { size: 32 }),
});

async function buy(vendor: Vendor, query = '') {
  const url = vendor.url + query;
  const unpaid = await ask(url);
  expect(unpaid.status).toBe(402);
  const { headers, transfer } = await payFirstOffer(challengeIn(unpaid), wallet, soon());
  return { transfer, headers, paid: await ask(url, headers) };
}

const VENDORS = [
  ['version 2 on express', startExpressVendor, 'payment-response'],
  ['version 2 on hono', startHonoVendor, 'payment-response'],
  ['version 1 on express', startV1Vendor, 'x-payment-response'],
] as const;

describe.each(VENDORS)('a vendor of %s', (_, start, receiptHeader) => {
  it('a real x402 vendor takes a payment made by hand, and the chain moves exactly the price', async () => {
    await using vendor = await start(chain, { priceRaw: 12_345n });
    const held = await chain.usdcOf(vendor.payTo);
    const { paid, transfer, headers } = await buy(vendor);
    expect([paid.status, JSON.parse(paid.body)]).toEqual([
      200,
      expect.objectContaining({ method: 'GET' }),
    ]);
    const receipt = fromBase64(String(paid.headers[receiptHeader])) as {
      transaction: `0x${string}`;
    };
    expect((await chain.receipt(receipt.transaction))?.status).toBe('0x1');
    expect(await chain.usdcOf(vendor.payTo)).toBe(held + 12_345n);
    expect(await chain.authorizationState(wallet.address, transfer.nonce)).toBe(true);

    expect((await ask(vendor.url, headers)).status).toBe(402);
    expect(await chain.usdcOf(vendor.payTo)).toBe(held + 12_345n);
  });

  it('a real x402 vendor takes no money when its handler answers with an error', async () => {
    await using vendor = await start(chain);
    const { paid, transfer } = await buy(vendor, '?status=503');
    expect([paid.status, vendor.handled.length]).toEqual([503, 1]);
    expect(await chain.authorizationState(wallet.address, transfer.nonce)).toBe(false);
  });

  it('a real x402 vendor is paid many times at once', async () => {
    await using vendor = await start(chain);
    const held = await chain.usdcOf(vendor.payTo);
    const bought = await Promise.all(Array.from({ length: 5 }, () => buy(vendor)));
    expect(bought.map(({ paid }) => paid.status)).toEqual([200, 200, 200, 200, 200]);
    expect(await chain.usdcOf(vendor.payTo)).toBe(held + 5n * vendor.priceRaw);
  });
});

it('a real x402 vendor that settles first keeps the money when its handler fails', async () => {
  await using vendor = await startExpressVendor(chain, { upfront: true });
  const { paid, transfer } = await buy(vendor, '?status=503');
  expect(paid.status).toBe(503);
  expect(await chain.authorizationState(wallet.address, transfer.nonce)).toBe(true);
});
