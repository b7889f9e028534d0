import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../../src/kernel/api-error.ts';
import { UNITS } from '../../../../src/kernel/price.ts';
import { buildCatalogue } from '../../../../src/models/catalogue/build-catalogue.ts';
import type { SourceEntry } from '../../../../src/models/catalogue/builtin/builtin-model.ts';
import type { Modality } from '../../../../src/models/catalogue/catalogue.ts';
import { estimatePrice } from '../../../../src/models/catalogue/price-estimate.ts';
import { chatPriceRaw } from '../../../../src/models/chat/chat-price.ts';
import { SPEND_LIMITS } from '../../../../src/spend/limits.ts';

const source = (rates: SourceEntry['rates'], more: Partial<SourceEntry> = {}): SourceEntry => ({
  rail: 'direct-account',
  provider: 'acme',
  upstreamModel: 'm',
  rates,
  ...more,
});

const RATES = { text_input_token: '2.50', text_output_token: '10.00' };

function catalogueOf(sources: readonly SourceEntry[], modality: Modality = 'text') {
  const provider = { baseUrl: 'https://x.example', dialect: 'openai' } as const;
  const names = [...new Set(sources.map(({ provider: name }) => name))];
  return buildCatalogue({
    providers: new Map(names.map((name) => [name, provider])),
    models: [{ id: 'acme/fast-1', modality, sources }],
    secret: () => undefined,
  });
}

const estimate = (
  sources: readonly SourceEntry[],
  usage: Parameters<typeof estimatePrice>[2],
  modality?: Modality,
) => estimatePrice(catalogueOf(sources, modality), 'acme/fast-1', usage);

function refusal(work: () => unknown): ApiError {
  try {
    work();
  } catch (error) {
    if (error instanceof ApiError) return error;
  }
  throw new Error('it was priced');
}

describe('estimatePrice', () => {
  it('the price estimate of the wire contract’s example is exact to the raw unit', () => {
    const usage = { text_input_token: 1_200, text_output_token: 400 };
    expect(estimate([source(RATES)], usage)).toEqual({
      model: 'acme/fast-1',
      rail: 'direct-account',
      provider: 'acme',
      margin_bps: 500,
      usage,
      upstream_cost_usdc: '0.007000',
      cost_usdc: '0.007350',
      cost_raw: '7350',
    });
  });

  it('the price estimate of a long prompt uses the long-prompt rates and counts cached tokens in its length', () => {
    const longPrompt = { above: 100_000, inputPercent: 500, outputPercent: 500 };
    const rates = { ...RATES, cached_input_token: '0.25' };
    const usage = { text_input_token: 60_000, cached_input_token: 40_000 };
    const long = [{ ...source(rates), longPrompt, marginBps: 0 }];
    expect(estimate(long, usage).cost_raw).toBe('160000');
    expect(estimate(long, { ...usage, text_input_token: 60_001 }).cost_raw).toBe('800013');
  });

  it('the price estimate equals the charge of a call with the same usage, at every rate and margin', () => {
    const rate = fc.integer({ min: 0, max: 10 ** 9 }).map((micro) => (micro / 1e6).toFixed(6));
    const tokens = fc.integer({ min: 0, max: SPEND_LIMITS.awareness.estimateQuantity });
    fc.assert(
      fc.property(
        fc.record({ input: rate, output: rate, cached: fc.option(rate), call: fc.option(rate) }),
        fc.record({ input: tokens, output: tokens, cached: tokens }),
        fc.integer({ min: 0, max: 10_000 }),
        (rates, used, marginBps) => {
          fc.pre(used.input + used.output + used.cached > 0);
          const entry = source(
            {
              text_input_token: rates.input,
              text_output_token: rates.output,
              ...(rates.cached !== null && { cached_input_token: rates.cached }),
              ...(rates.call !== null && { request: rates.call }),
            },
            { marginBps },
          );
          const catalogue = catalogueOf([entry]);
          const [known] = catalogue.find('acme/fast-1')?.sources ?? [];
          if (known === undefined) throw new Error('the model has a source');
          const charged = chatPriceRaw(
            {
              inputTokens: used.input + used.cached,
              cachedTokens: used.cached,
              outputTokens: used.output,
            },
            known,
          );
          const priced = estimatePrice(catalogue, 'acme/fast-1', {
            text_input_token: used.input,
            text_output_token: used.output,
            cached_input_token: used.cached,
          });
          expect(priced.cost_raw).toBe(charged.toString());
          expect(priced.cost_usdc).toMatch(/^\d+\.\d{6}$/);
          expect(priced.upstream_cost_usdc).toMatch(/^\d+\.\d{6}$/);
        },
      ),
    );
  });

  it('the price estimate uses the source that is cheapest for the given usage', () => {
    const dear = source({ text_input_token: '9', text_output_token: '1' }, { provider: 'reader' });
    const cheap = source({ text_input_token: '1', text_output_token: '9' }, { provider: 'writer' });
    expect(estimate([dear, cheap], { text_input_token: 1_000 }).provider).toBe('writer');
    expect(estimate([dear, cheap], { text_output_token: 1_000 }).provider).toBe('reader');
  });

  it('the price estimate skips a cheaper source that lacks a rate for a unit of the usage', () => {
    const silent = source({ text_input_token: '0.1' }, { provider: 'silent' });
    const usage = { text_input_token: 10, text_output_token: 10 };
    expect(estimate([silent, source(RATES)], usage).provider).toBe('acme');
  });

  it('the price estimate keeps only non-zero units, and adds the call when calls are billed', () => {
    const usage = { text_input_token: 5, text_output_token: 0, character: 0 };
    expect(estimate([source({ ...RATES, request: '1000' })], usage)).toMatchObject({
      usage: { text_input_token: 5, request: 1 },
      cost_raw: '1064',
    });
    expect(Object.keys(estimate([source(RATES)], usage).usage)).toEqual(['text_input_token']);
  });

  it('the price estimate bills cached input at the input rate when a source has no cached rate', () => {
    const usage = { cached_input_token: 1_000_000 };
    expect(estimate([source(RATES)], usage).cost_raw).toBe('2625000');
    const discounted = source({ ...RATES, cached_input_token: '1.25' });
    expect(estimate([discounted], usage).cost_raw).toBe('1312500');
  });

  it('the price estimate is at least one raw unit when there is a rate, and zero on the free rail', () => {
    expect(estimate([source(RATES)], { text_input_token: 1 }).cost_raw).toBe('3');
    expect(
      estimate([source({ audio_second: '0.000001' })], { audio_second: 0.001 }, 'stt'),
    ).toMatchObject({ cost_raw: '1', cost_usdc: '0.000001' });
    expect(estimate([source({}, { rail: 'free' })], { text_output_token: 9 })).toMatchObject({
      rail: 'free',
      cost_raw: '0',
      cost_usdc: '0.000000',
      usage: { text_output_token: 9 },
    });
  });

  it('the price estimate of tokens at a source that bills calls alone is the price of one call', () => {
    const flat = source({ request: '2000' }, { rail: 'x402-router' });
    expect(estimate([flat], { text_input_token: 9_000 }).cost_raw).toBe('2100');
  });

  it('the price estimate stays exact for the largest quantities at the largest rates', () => {
    const rates = Object.fromEntries(UNITS.map((unit) => [unit, '999999999999.999999']));
    const usage = Object.fromEntries(
      UNITS.filter((unit) => unit !== 'request').map((unit) => [
        unit,
        SPEND_LIMITS.awareness.estimateQuantity,
      ]),
    );
    const exact =
      (7n * BigInt(SPEND_LIMITS.awareness.estimateQuantity) + 1n) * 999_999_999_999_999_999n;
    const priced = estimate([source(rates, { marginBps: 0 })], usage, 'realtime');
    expect(priced.cost_raw).toBe(((exact + 999_999n) / 1_000_000n).toString());
  });

  it('the price estimate of an unknown model is refused with model_not_found', () => {
    const catalogue = catalogueOf([source(RATES)]);
    expect(refusal(() => estimatePrice(catalogue, 'fast-2', { character: 1 }))).toMatchObject({
      status: 404,
      error: 'model_not_found',
      fields: { message: expect.stringContaining('fast-2') },
    });
  });

  it.each([
    ['nothing at all', {}],
    ['zeroes', { text_input_token: 0, audio_second: 0 }],
    ['characters of a text model', { text_input_token: 1, character: 1 }],
    ['sound of a text model', { audio_second: 1 }],
  ])('the price estimate is refused for %s', (_, usage) => {
    const refused = { status: 422, error: 'no_priceable_source' };
    expect(refusal(() => estimate([source(RATES)], usage))).toMatchObject(refused);
  });

  it('the price estimate is refused for a unit that a free source does not serve', () => {
    const free = source({}, { rail: 'free' });
    expect(refusal(() => estimate([free], { character: 1 })).status).toBe(422);
  });
});
