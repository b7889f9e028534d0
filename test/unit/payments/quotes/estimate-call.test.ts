import { describe, expect, it } from 'vitest';
import { requestErrors } from '../../../../src/http/route/errors.ts';
import type { Spender } from '../../../../src/ledger/rules/requests.ts';
import { marketplaceErrors } from '../../../../src/marketplace/errors.ts';
import type { MarketPrice } from '../../../../src/payments/proxy/marketplace.ts';
import { estimateCall } from '../../../../src/payments/quotes/estimate-call.ts';
import type { Quote, Quoted } from '../../../../src/payments/quotes/price-quotes.ts';
import { aPolicy } from '../../../support/a-policy.ts';
import { marketPrices } from '../../../support/fakes/market-prices.ts';
import { scriptedClient } from '../../../support/fakes/scripted-client.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { type StandingsWish, standingsReader, standingsWith } from '../../../support/standings.ts';

const URL_ = 'https://api.vendor.example/paid#part';
const AT_MS = Date.UTC(2026, 10, 21, 12);
const PAYEE = `0x${'aa'.repeat(20)}`;
const SPELLED = { asset: '0xUSDC', payTo: '0xPayTo' };

const quoteOf = (...offers: (readonly [amountRaw: bigint, payTo?: string])[]): Quote => ({
  kind: 'priced',
  atMs: AT_MS,
  offers: offers.map(([amountRaw, payTo = PAYEE]) => ({
    amountRaw,
    payTo,
    scheme: 'exact',
    spelled: SPELLED,
  })),
});

const FREE: Quote = { kind: 'free', atMs: AT_MS };

type Estimate = { readonly x402: true; readonly reflection: object; readonly priceRaw: string };

const estimated = async (
  said: Quote | Quoted,
  wanted: StandingsWish | undefined = {},
  spender: Partial<Spender> = {},
) => {
  const quoted =
    'quote' in said || said.kind === 'failed'
      ? said
      : ({ kind: 'quoted', quote: said, cached: false } as const);
  return estimateCall(
    {
      client: scriptedClient({}).client,
      quotes: { of: async () => quoted },
      spendState: standingsReader(standingsWith(wanted)),
      clock: new ManualClock(),
      marketplace: marketPrices(),
      terms: { usdc: '0xUSDC' },
    },
    { agentId: 1, keyId: 1, keyRootId: 1, ...spender },
    { url: URL_, method: 'POST' },
  ) as Promise<Estimate>;
};

const reflected = async (priceRaw: bigint, wanted?: StandingsWish, spender?: Partial<Spender>) =>
  (await estimated(quoteOf([priceRaw]), wanted, spender)).reflection;

describe('an estimate', () => {
  it('an estimate shows the offer in the vendor’s spelling, its cache state and what it means for the balance', async () => {
    expect(await estimated({ kind: 'quoted', quote: quoteOf([7n]), cached: true })).toEqual({
      url: URL_,
      method: 'POST',
      x402: true,
      priceRaw: '7',
      network: 'base',
      asset: '0xUSDC',
      payTo: '0xPayTo',
      scheme: 'exact',
      cached: true,
      fetchedAt: '2026-11-21T12:00:00.000Z',
      reflection: {
        available: '1000',
        headroomToAutoBorrow: '1000',
        sessionSpendRemaining: null,
        willExceedAvailable: false,
        willExceedHeadroom: false,
        willExceedSpendLimit: false,
      },
    });
  });

  it('an estimate of a free call says x402 false and has no amounts', async () => {
    expect(await estimated(FREE)).toEqual({
      url: URL_,
      method: 'POST',
      x402: false,
      cached: false,
      fetchedAt: '2026-11-21T12:00:00.000Z',
    });
  });

  it('an estimate takes the cheapest offer that does not pay the payer itself', async () => {
    const rules = { walletAddress: `0x${'bb'.repeat(20)}` };
    const quote = quoteOf([9n], [3n, rules.walletAddress], [5n], [5n, '0xcc']);
    expect(await estimated(quote, { rules })).toMatchObject({ priceRaw: '5' });
    expect(await estimated(quote, { rules: { walletAddress: null } })).toMatchObject({
      priceRaw: '3',
    });
    await expect(estimated(quoteOf([3n, rules.walletAddress]), { rules })).rejects.toMatchObject({
      status: 502,
      error: 'preflight_failed',
    });
  });

  it('an estimate that fails is refused as preflight_failed with the reason', async () => {
    await expect(estimated({ kind: 'failed', detail: 'No answer came.' })).rejects.toMatchObject({
      status: 502,
      error: 'preflight_failed',
      fields: { detail: 'No answer came.' },
    });
  });
});

describe('an estimate of a call to the marketplace', () => {
  const sold = (price: MarketPrice | Error, wanted: StandingsWish = {}) =>
    estimateCall(
      {
        client: {
          open: () => {
            throw new Error('no address is looked up');
          },
        },
        quotes: {
          of: () => {
            throw new Error('nothing is asked');
          },
        },
        marketplace: marketPrices(price),
        clock: new ManualClock(AT_MS),
        terms: { usdc: '0xUSDC' },
        spendState: standingsReader(standingsWith(wanted)),
      },
      { agentId: 1, keyId: 1, keyRootId: 1 },
      { url: 'https://market.example/v1/tts/acme', method: 'POST' },
    );

  it('an estimate of a marketplace call uses its price list, sends nothing and needs no USDC in the wallet', async () => {
    const per = { quantity: 1_000, unit: 'character' } as const;
    expect(await sold({ kind: 'sold', priceRaw: 900n, per }, { walletRaw: 0n })).toEqual({
      url: 'https://market.example/v1/tts/acme',
      method: 'POST',
      x402: true,
      priceRaw: '900',
      per,
      asset: '0xUSDC',
      network: 'base',
      scheme: 'credit',
      payTo: 'market.example',
      cached: false,
      fetchedAt: '2026-11-21T12:00:00.000Z',
      reflection: {
        available: '1000',
        headroomToAutoBorrow: '1000',
        sessionSpendRemaining: null,
        willExceedAvailable: false,
        willExceedHeadroom: false,
        willExceedSpendLimit: false,
      },
    });
  });

  it('an estimate of a marketplace call applies the caps of its host and knows free routes', async () => {
    const cap = aPolicy({ kind: 'api', matchKey: 'market.example', limitRaw: 5n });
    const dear = await sold({ kind: 'sold', priceRaw: 6n }, { own: [[cap, 0n]] });
    expect(dear).toMatchObject({ reflection: { willExceedSpendLimit: true } });
    expect(await sold({ kind: 'free' })).toMatchObject({ x402: false });
  });

  it('an estimate of a marketplace call is refused for a wrong body, and fails for a vendor that is not listed', async () => {
    const wrong = requestErrors.invalid([{ path: ['model'], message: 'is none', code: 'x' }]);
    await expect(sold(wrong)).rejects.toBe(wrong);
    await expect(
      sold(marketplaceErrors.notFound('There is no such vendor.')),
    ).rejects.toMatchObject({
      status: 502,
      error: 'preflight_failed',
      fields: { detail: 'There is no such vendor.' },
    });
  });
});

describe('what an estimate says of money', () => {
  it('an estimate’s available amount is the lesser of the balance and the wallet’s unpromised USDC', async () => {
    const wallet = { spendableRaw: 100n, walletRaw: 90n, promisedRaw: 20n };
    expect(await reflected(70n, wallet)).toMatchObject({
      available: '70',
      headroomToAutoBorrow: '70',
      willExceedAvailable: false,
    });
    expect(await reflected(71n, wallet)).toMatchObject({
      willExceedAvailable: true,
      willExceedHeadroom: true,
      willExceedSpendLimit: false,
    });
    expect(await reflected(101n, { spendableRaw: 100n, walletRaw: 500n })).toMatchObject({
      available: '100',
      willExceedAvailable: true,
    });
    expect(await reflected(1n, { walletRaw: 5n, promisedRaw: 9n })).toMatchObject({
      available: '0',
    });
  });

  it('an estimate’s available amount leaves out what is reserved for other tasks', async () => {
    const kept = aPolicy({
      matchKey: 't1',
      limitRaw: 400n,
      reserves: true,
      window: { kind: 'once' },
    });
    const wanted = { own: [[kept, 0n]] } as const;
    expect(await reflected(1n, wanted)).toMatchObject({ available: '600' });
    expect(await reflected(1n, wanted, { taskId: 't1' })).toMatchObject({ available: '1000' });
  });

  it('an estimate applies every cap of the payment and shows what remains of the agent’s session cap', async () => {
    const session = aPolicy({ kind: 'session', matchKey: null, limitRaw: 50n });
    expect(await reflected(40n, { own: [[session, 10n]] })).toMatchObject({
      sessionSpendRemaining: '40',
      willExceedSpendLimit: false,
    });
    expect(await reflected(41n, { own: [[session, 10n]] })).toMatchObject({
      willExceedSpendLimit: true,
    });
    const team = [[{ ...session, agentId: null }, 10n]] as const;
    expect(await reflected(41n, { team })).toMatchObject({
      sessionSpendRemaining: null,
      willExceedSpendLimit: true,
    });
    const caps = [
      aPolicy({ kind: 'vendor', matchKey: PAYEE, limitRaw: 5n }),
      aPolicy({ kind: 'api', matchKey: 'vendor.example', matchKind: 'host_suffix', limitRaw: 5n }),
      aPolicy({ kind: 'key', matchKey: '1', limitRaw: 5n }),
    ];
    for (const cap of caps) {
      const told = await reflected(6n, { own: [[cap, 0n]] });
      expect(told, cap.kind).toMatchObject({ willExceedSpendLimit: true });
    }
    const task = [[aPolicy({ limitRaw: 5n, limitCeilingRaw: 50n }), 0n]] as const;
    expect(await reflected(6n, { own: task })).toMatchObject({ willExceedSpendLimit: false });
    const tagged = { taskId: 'task-1' };
    expect(await reflected(6n, { own: task }, tagged)).toMatchObject({
      willExceedSpendLimit: true,
    });
    expect(await reflected(6n, { own: task }, { ...tagged, taskValueBps: 20_000 })).toMatchObject({
      willExceedSpendLimit: false,
    });
  });
});
