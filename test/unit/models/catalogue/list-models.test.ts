import { describe, expect, it } from 'vitest';
import type { Model } from '../../../../src/models/catalogue/catalogue.ts';
import {
  describeModelWithSources,
  describerFor,
} from '../../../../src/models/catalogue/list-models.ts';
import { retirementOf } from '../../../../src/models/catalogue/retirement.ts';
import { ratesOf } from '../../../support/rates-of.ts';

const model = (rates: Parameters<typeof ratesOf>[0]): Model => ({
  id: 'acme/fast-1',
  modality: 'text',
  contextWindow: null,
  maxOutputTokens: null,
  sources: [
    {
      rail: 'direct-account',
      provider: 'acme',
      upstreamModel: 'fast-1',
      marginBps: 500,
      rates: ratesOf(rates),
    },
  ],
});

const describeModel = describerFor(undefined);
const describeModelWithPricing = describerFor('pricing');
type Priced = {
  readonly pricing: {
    readonly certainty: string | null;
    readonly funded: Readonly<Record<string, string | null>>;
  };
};
const pricingOf = (of: Model) => (describeModelWithPricing(of) as object as Priced).pricing;

describe('a model on the wire', () => {
  it('a listed model has exactly the members of the plain list', () => {
    expect(describeModel(model({ request: '1' }))).toEqual({
      id: 'acme/fast-1',
      object: 'model',
      created: 1_735_689_600,
      owned_by: 'svc',
      modality: 'text',
      context_window: null,
      max_output_tokens: null,
      shutdown_date: null,
    });
  });

  it('a listed model has its shutdown date and its successor', () => {
    const told = { shutdownDate: '2027-01-14', noticeDate: undefined, successor: 'acme/fast-2' };
    const retiring = { ...model({ request: '1' }), retirement: retirementOf(told) };
    const said = { shutdown_date: '2027-01-14', successor: 'acme/fast-2' };
    expect(describeModel(retiring)).toMatchObject(said);
    expect(describeModelWithPricing(retiring)).toMatchObject(said);
    const alone = { ...retiring, retirement: retirementOf({ ...told, successor: null }) };
    expect(describeModel(alone)).not.toHaveProperty('successor');
    expect(describeModelWithSources(retiring)).toMatchObject({
      shutdownDate: '2027-01-14',
      successor: 'acme/fast-2',
    });
  });

  it('a listed model’s pricing says whether its price is confirmed', () => {
    const known = model({ request: '1' });
    const price = { source: 'a copy', readOn: '2026-11-24', certainty: 'unconfirmed' } as const;
    const sources = known.sources.map((source) => ({ ...source, price }));
    expect(pricingOf({ ...known, sources }).certainty).toBe('unconfirmed');
    expect(pricingOf(known).certainty).toBe('list');
    expect(pricingOf({ ...known, sources: [] }).certainty).toBeNull();
    expect(describeModelWithSources({ ...known, sources }).sources).toMatchObject([{ price }]);
  });

  it('a listed model’s price is the cheapest source’s with margin, in six decimals per million tokens', () => {
    const rates = { text_input_token: '2.5', text_output_token: '10', cached_input_token: '1.25' };
    expect(pricingOf(model(rates))).toEqual({
      unit: 'per_1m_tokens',
      currency: 'usdc',
      funded: { input: '2.625000', output: '10.500000', cached_input: '1.312500' },
      byok: { service_fee_usdc: '0.002000', upstream: 'at_vendor_rate' },
      certainty: 'list',
    });
  });

  it('a listed model’s price is null for tokens that are not billed or have no cached rate', () => {
    const { funded } = pricingOf(model({ character: '1' }));
    expect(funded).toEqual({ input: null, output: null, cached_input: null });
    const uncached = { text_input_token: '1', text_output_token: '1' };
    expect(pricingOf(model(uncached)).funded.cached_input).toBeNull();
  });

  it('the model list has prices when its include parameter names pricing', () => {
    const described = (include?: string) => describerFor(include)(model({ request: '1' }));
    for (const include of ['pricing', 'voices,pricing']) {
      expect(described(include)).toHaveProperty('pricing');
    }
    for (const include of [undefined, '', 'price', 'pricings']) {
      expect(described(include)).not.toHaveProperty('pricing');
    }
  });

  it('a model with its sources lists them in the catalogue’s order at the upstream’s own rates', () => {
    const rates = { text_input_token: '2.5', text_output_token: '0.000001' };
    const known = model(rates);
    const dearer = { ...known.sources[0], provider: 'shed', rates: ratesOf({ request: '900' }) };
    const sources = [...known.sources, dearer] as Model['sources'];
    const own = { rail: 'direct-account', marginBps: 500 };
    expect(describeModelWithSources({ ...known, sources })).toEqual({
      id: 'acme/fast-1',
      displayName: null,
      modality: 'text',
      contextWindow: null,
      maxOutputTokens: null,
      isOpenWeight: false,
      shutdownDate: null,
      successor: null,
      sources: [
        {
          ...own,
          provider: 'acme',
          price: null,
          rates: { text_input_token: 2.5, text_output_token: 0.000001 },
        },
        { ...own, provider: 'shed', price: null, rates: { request: 900 } },
      ],
    });
    const told = { displayName: 'Fast 1', isOpenWeight: true, contextWindow: 8_192 };
    expect(describeModelWithSources({ ...known, ...told })).toMatchObject(told);
  });
});
