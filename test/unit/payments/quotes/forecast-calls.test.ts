import { describe, expect, it } from 'vitest';
import { PAYMENT_LIMITS } from '../../../../src/payments/limits.ts';
import type { MarketPrice } from '../../../../src/payments/proxy/marketplace.ts';
import {
  type ForecastRequest,
  forecastCalls,
} from '../../../../src/payments/quotes/forecast-calls.ts';
import type { Quoted } from '../../../../src/payments/quotes/price-quotes.ts';
import {
  BlockedDestination,
  Unreachable,
} from '../../../../src/platform/egress/blocked-destination.ts';
import { aPolicy } from '../../../support/a-policy.ts';
import { marketPrices } from '../../../support/fakes/market-prices.ts';
import { placeOf, scriptedClient } from '../../../support/fakes/scripted-client.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { type StandingsWish, standingsReader, standingsWith } from '../../../support/standings.ts';

const PAYEE = `0x${'aa'.repeat(20)}`;

const asking = (host: string, change: Partial<ForecastRequest> = {}): ForecastRequest => ({
  url: `https://${host}/`,
  method: 'GET',
  count: 1,
  taskId: undefined,
  ...change,
});

const costs = (amountRaw: bigint): Quoted => ({
  kind: 'quoted',
  cached: false,
  quote: {
    kind: 'priced',
    atMs: 0,
    offers: [{ amountRaw, payTo: PAYEE, scheme: 'exact', spelled: { asset: '', payTo: '' } }],
  },
});

/** `<price>.example` costs that much, `free.example` nothing, and `broken.example` does not answer. */
const priceOf = (host: string): Quoted => {
  if (host === 'free.example') {
    return { kind: 'quoted', cached: false, quote: { kind: 'free', atMs: 0 } };
  }
  if (host === 'broken.example') return { kind: 'failed', detail: 'No answer came: timeout.' };
  return costs(BigInt(host.split('.')[0] ?? ''));
};

function world(
  wanted: StandingsWish = {},
  ask: (host: string) => Promise<Quoted> = async (host) => priceOf(host),
  sold?: MarketPrice,
) {
  const clock = new ManualClock();
  const asked: string[] = [];
  const { client, opened } = scriptedClient({
    open: (url) => {
      if (url.includes('blocked')) throw new BlockedDestination('the host name is a local one');
      if (url.includes('nowhere')) throw new Unreachable('no');
      return placeOf(url);
    },
  });
  const deps = {
    client,
    clock,
    marketplace: marketPrices(sold),
    spendState: standingsReader(standingsWith(wanted)),
    quotes: {
      of: (destination: { host: string }) => {
        asked.push(destination.host);
        return ask(destination.host);
      },
    },
  };
  const forecast = (...wishes: ForecastRequest[]) =>
    forecastCalls(deps, { agentId: 1, keyId: 1, keyRootId: 1 }, wishes);
  return { opened, clock, asked, forecast };
}

describe('a forecast of many calls', () => {
  it('a forecast lists each item by its index and adds up their subtotals', async () => {
    const told = await world().forecast(
      asking('5.example', { count: 3, method: 'POST' }),
      asking('free.example', { count: 2 }),
      asking('broken.example'),
      asking('nowhere.example'),
    );
    expect(told).toEqual({
      forecast: {
        totalRaw: '15',
        currency: 'USDC',
        decimals: 6,
        items: [
          {
            index: 0,
            url: 'https://5.example/',
            method: 'POST',
            count: 3,
            x402: true,
            priceRaw: '5',
            subtotalRaw: '15',
          },
          {
            index: 1,
            url: 'https://free.example/',
            method: 'GET',
            count: 2,
            x402: false,
            priceRaw: '0',
            subtotalRaw: '0',
          },
          {
            index: 2,
            url: 'https://broken.example/',
            method: 'GET',
            count: 1,
            x402: null,
            priceRaw: null,
            subtotalRaw: null,
            error: 'preflight_failed',
            detail: 'No answer came: timeout.',
          },
          {
            index: 3,
            url: 'https://nowhere.example/',
            method: 'GET',
            count: 1,
            x402: null,
            priceRaw: null,
            subtotalRaw: null,
            error: 'preflight_failed',
            detail: 'The host name could not be resolved.',
          },
        ],
        reflection: { available: '1000', willExceedAvailable: false, willExceedSpendLimit: false },
      },
      policyPreflight: { ok: true, breaches: [] },
    });
  });

  it('a forecast takes marketplace prices from the price list, beside prices of other targets', async () => {
    const per = { quantity: 60, unit: 'second' } as const;
    const { asked, forecast, opened } = world({ walletRaw: 5n }, undefined, {
      kind: 'sold',
      priceRaw: 100n,
      per,
    });
    const told = await forecast(
      asking('market.example', { count: 2 }),
      asking('5.example', { method: 'POST' }),
    );
    expect(told.forecast.items[0]).toMatchObject({ priceRaw: '100', subtotalRaw: '200', per });
    expect(told.forecast).toMatchObject({
      totalRaw: '205',
      // Only the second is paid out of the wallet.
      reflection: { willExceedAvailable: false },
    });
    expect(asked).toEqual(['5.example']);
    expect(opened).toEqual(['https://5.example/']);
  });

  it('a forecast names the caps that would refuse it, each item under its own task', async () => {
    const own = [[aPolicy({ id: 3, matchKey: 't1', limitRaw: 9n, label: 'small' }), 2n]] as const;
    const { forecast } = world({ own });
    const told = await forecast(
      asking('5.example', { taskId: 't1' }),
      asking('50.example'),
      asking('5.example', { taskId: 't1' }),
    );
    expect(told.policyPreflight).toEqual({
      ok: false,
      breaches: [
        {
          itemIndex: 2,
          policyId: 3,
          kind: 'task',
          matchKey: 't1',
          label: 'small',
          limitRaw: '9',
          projectedSpentRaw: '12',
          reason: 'policy_exceeded',
        },
      ],
    });
    expect(told.forecast.reflection).toMatchObject({ willExceedSpendLimit: true });
  });

  it('a forecast with one blocked target is refused before any target gets a request', async () => {
    const { forecast, asked } = world();
    const wishes = Array.from({ length: 20 }, (_, i) => asking(`${i}.example`));
    await expect(forecast(...wishes, asking('blocked.example'))).rejects.toMatchObject({
      status: 400,
      error: 'blocked_destination',
    });
    expect(asked).toEqual([]);
  });

  it('a forecast without any priced item fails with the reasons', async () => {
    await expect(
      world().forecast(asking('broken.example'), asking('nowhere.example')),
    ).rejects.toMatchObject({
      status: 502,
      error: 'forecast_failed',
      fields: { detail: expect.stringContaining('No answer came: timeout.') },
    });
  });

  it('a forecast resolves each URL once, however many items have it', async () => {
    const { forecast, opened } = world();
    await forecast(
      asking('5.example'),
      asking('5.example', { method: 'POST' }),
      asking('5.example'),
    );
    expect(opened).toEqual(['https://5.example/']);
  });

  it('a forecast requests at most `forecastProbes` prices at a time', async () => {
    const waiting: (() => void)[] = [];
    const { forecast, asked } = world(
      {},
      (host) => new Promise((resolve) => waiting.push(() => resolve(priceOf(host)))),
    );
    const all = forecast(...Array.from({ length: 20 }, (_, i) => asking(`${i}.example`)));
    for (let done = 0; done < 20; ) {
      await new Promise((resolve) => setImmediate(resolve));
      expect(asked.length).toBe(Math.min(20, done + PAYMENT_LIMITS.forecast.probes));
      const next = waiting.splice(0, 3);
      for (const answer of next) answer();
      done += next.length;
    }
    expect((await all).forecast.totalRaw).toBe('190');
  });

  it('a forecast ends after `forecastMs` and marks slow targets as unanswered', async () => {
    const never = new Promise<Quoted>(() => {});
    const { forecast, clock, asked } = world({}, async (host) =>
      host === 'slow.example' ? never : priceOf(host),
    );
    const slow = Array.from({ length: PAYMENT_LIMITS.forecast.probes }, () =>
      asking('slow.example'),
    );
    const all = forecast(asking('5.example'), ...slow, asking('7.example'));
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(PAYMENT_LIMITS.forecast.timeoutMs);
    const { items, totalRaw } = (await all).forecast;
    expect(totalRaw).toBe('5');
    expect(items.map(({ priceRaw }) => priceRaw)).toEqual(['5', ...slow.map(() => null), null]);
    expect(items.at(-1)).toMatchObject({ error: 'preflight_failed' });
    // The last one was not even asked.
    expect(asked).not.toContain('7.example');
  });
});
