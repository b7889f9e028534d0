import { describe, expect, it } from 'vitest';
import type { Rail, Source } from '../../../../src/models/catalogue/catalogue.ts';
import { requireOffers } from '../../../../src/models/catalogue/require-model.ts';
import { inStages } from '../../../../src/models/purchase/hold.ts';
import type { Quote } from '../../../../src/models/purchase/product.ts';
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

const quoteOf = (...sources: Source[]) => preferredQuote([], ...sources);

/** Returns a quote for a buyer who prefers the providers `order`, the first one most. */
function preferredQuote(order: readonly string[], ...sources: Source[]): Quote<undefined, string> {
  const model = { id: 'acme/m', modality: 'text' as const, contextWindow: null, sources };
  const choice = preferredSources(
    pooledSources({ ...model, maxOutputTokens: null }),
    readPreferences({ provider: { order: [...order] } }),
  );
  const bound = ({ rates, marginBps }: Source) =>
    ((rates.request ?? 0n) * BigInt(10_000 + marginBps)) / 10_000_000_000n;
  const offers = planOffers(choice, bound, () => 'a way');
  return {
    model: choice.model,
    offers: requireOffers(choice.model, offers),
    bound: undefined,
  };
}

/** The providers of each stage, in turn. */
function stages(quote: Quote<undefined, string>, hasOneHold = false): string[][] {
  const found: string[][] = [];
  for (let at: typeof quote | undefined = inStages(quote, hasOneHold); at; at = at.rest) {
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
    expect(stages(quoteOf(host, router2, account, router))).toEqual([
      ['router', 'router 2'],
      ['account', 'host'],
    ]);
    expect(stages(quoteOf(router2, account))).toEqual([['account'], ['router 2']]);
  });

  it('stages keep the caller’s order of sources and group kinds only within one rank', () => {
    expect(stages(preferredQuote(['host', 'router'], router, account, host))).toEqual([
      ['host'],
      ['router'],
      ['account'],
    ]);
    expect(stages(preferredQuote(['account', 'host'], router, account, host))).toEqual([
      ['account', 'host'],
      ['router'],
    ]);
    expect(stages(preferredQuote(['host'], router2, router, account))).toEqual([
      ['router', 'router 2'],
      ['account'],
    ]);
    const dear = source('dear', 'direct-account', 50n);
    expect(stages(preferredQuote(['dear'], router2, router, account, host, dear))).toEqual([
      ['dear'],
      ['router', 'router 2'],
      ['account', 'host'],
    ]);
    expect(stages(preferredQuote(['dear'], router2, account, host, dear))).toEqual([
      ['dear', 'account', 'host'],
      ['router 2'],
    ]);
    expect(stages(preferredQuote(['host', 'router'], router, account, host), true)).toEqual([
      ['host', 'account'],
    ]);
  });

  it('sources of a single kind stay in one stage', () => {
    expect(stages(quoteOf(host, account))).toEqual([['account', 'host']]);
    expect(stages(quoteOf(router), true)).toEqual([['router']]);
  });

  it('a request with a single hold uses only the stage of account sources', () => {
    expect(stages(quoteOf(router, account), true)).toEqual([['account']]);
  });
});
