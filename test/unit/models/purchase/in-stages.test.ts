import { describe, expect, it } from 'vitest';
import type { Rail, Source } from '../../../../src/models/catalogue/catalogue.ts';
import { requireOffers } from '../../../../src/models/catalogue/require-model.ts';
import { inStages } from '../../../../src/models/purchase/open-hold.ts';
import type { Order } from '../../../../src/models/purchase/order.ts';
import { pooledSources } from '../../../../src/models/routing/keyed-sources.ts';
import { planOffers } from '../../../../src/models/routing/plan-offers.ts';
import {
  preferredSources,
  readPreferences,
} from '../../../../src/models/routing/routing-preferences.ts';

const source = (provider: string, rail: Rail, price: bigint): Source => ({
  rail,
  provider,
  upstreamModel: 'm',
  marginBps: 500,
  rates: { request: price * 1_000_000n },
});

const orderOf = (...sources: Source[]) => wishedOrder([], ...sources);

/** The same for a buyer who wishes that these providers be asked first. */
function wishedOrder(order: readonly string[], ...sources: Source[]): Order<string, object> {
  const model = { id: 'acme/m', modality: 'text' as const, contextWindow: null, sources };
  const sellers = preferredSources(
    pooledSources({ ...model, maxOutputTokens: null }),
    readPreferences({ provider: { order: [...order] } }),
  );
  const bound = ({ rates, marginBps }: Source) =>
    ((rates.request ?? 0n) * BigInt(10_000 + marginBps)) / 10_000_000_000n;
  const offers = planOffers(sellers, bound, () => 'a way');
  return {
    model: sellers.model,
    offers: requireOffers(sellers.model, offers),
    ask: async () => ({ kind: 'aborted' }),
    meter: () => ({ usage: {}, estimated: false }),
  };
}

/** The providers of each stage, in turn. */
function stages(order: Order<string, object>, hasOneHold = false): string[][] {
  const found: string[][] = [];
  for (let at: typeof order | undefined = inStages(order, hasOneHold); at; at = at.rest) {
    found.push(at.offers.map((offer) => offer.source.provider));
  }
  return found;
}

const router = source('router', 'x402-router', 10n);
const router2 = source('router 2', 'x402-router', 30n);
const account = source('account', 'direct-account', 20n);
const host = source('host', 'self-host', 40n);

describe('sources that are paid by themselves and such that are not', () => {
  it('x402 sources and account sources are called in separate stages, the cheapest kind first', () => {
    expect(stages(orderOf(host, router2, account, router))).toEqual([
      ['router', 'router 2'],
      ['account', 'host'],
    ]);
    expect(stages(orderOf(router2, account))).toEqual([['account'], ['router 2']]);
  });

  it('stages keep the caller’s order of sources and group kinds only within one rank', () => {
    expect(stages(wishedOrder(['host', 'router'], router, account, host))).toEqual([
      ['host'],
      ['router'],
      ['account'],
    ]);
    expect(stages(wishedOrder(['account', 'host'], router, account, host))).toEqual([
      ['account', 'host'],
      ['router'],
    ]);
    expect(stages(wishedOrder(['host'], router2, router, account))).toEqual([
      ['router', 'router 2'],
      ['account'],
    ]);
    const dear = source('dear', 'direct-account', 50n);
    expect(stages(wishedOrder(['dear'], router2, router, account, host, dear))).toEqual([
      ['dear'],
      ['router', 'router 2'],
      ['account', 'host'],
    ]);
    expect(stages(wishedOrder(['dear'], router2, account, host, dear))).toEqual([
      ['dear', 'account', 'host'],
      ['router 2'],
    ]);
    expect(stages(wishedOrder(['host', 'router'], router, account, host), true)).toEqual([
      ['host', 'account'],
    ]);
  });

  it('sources of a single kind stay in one stage', () => {
    expect(stages(orderOf(host, account))).toEqual([['account', 'host']]);
    expect(stages(orderOf(router), true)).toEqual([['router']]);
  });

  it('a request with a single hold uses only the stage of account sources', () => {
    expect(stages(orderOf(router, account), true)).toEqual([['account']]);
  });
});
