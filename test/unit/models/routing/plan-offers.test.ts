import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Model, Source } from '../../../../src/models/catalogue/catalogue.ts';
import { chatPriceRaw } from '../../../../src/models/chat/chat-price.ts';
import type { TokenUsage } from '../../../../src/models/providers/chat-rail.ts';
import { pooledSources } from '../../../../src/models/routing/keyed-sources.ts';
import { holdForRaw, planOffers } from '../../../../src/models/routing/plan-offers.ts';

const source = (provider: string, rates: Source['rates']): Source => ({
  rail: 'direct-account',
  provider,
  upstreamModel: 'm',
  rates,
  marginBps: 500,
});
const model = (sources: readonly Source[]): Model => ({
  id: 'a/b',
  modality: 'text',
  contextWindow: null,
  maxOutputTokens: null,
  sources,
});

const anySource = fc
  .record({ input: fc.bigInt(0n, 10n ** 8n), output: fc.bigInt(0n, 10n ** 8n) })
  .map(({ input, output }) => source('x', { text_input_token: input, text_output_token: output }));
const tokens = fc.record({
  inputTokens: fc.nat(1e6),
  cachedTokens: fc.constant(0),
  outputTokens: fc.nat(1e6),
});

const RAIL = 'a way';

/** What so many tokens cost at most. */
const atMost = (bound: TokenUsage) => (each: Source) => chatPriceRaw(bound, each);

describe('the offers for a request', () => {
  it('offers are ordered by their price for this request, cheapest first', () => {
    const wordy = source('wordy', { text_input_token: 1n, text_output_token: 100n });
    const terse = source('terse', { text_input_token: 100n, text_output_token: 1n });
    const order = (inputTokens: number, outputTokens: number) =>
      planOffers(
        pooledSources(model([wordy, terse])),
        atMost({ inputTokens, cachedTokens: 0, outputTokens }),
        () => RAIL,
      ).map((offer) => offer.source.provider);
    expect(order(10_000_000, 1)).toEqual(['wordy', 'terse']);
    expect(order(1, 10_000_000)).toEqual(['terse', 'wordy']);
  });

  it('an offer’s hold covers the same usage at every source, so that no fallback exceeds the hold', () => {
    fc.assert(
      fc.property(fc.array(anySource, { minLength: 1, maxLength: 5 }), tokens, (sources, bound) => {
        const heldRaw = holdForRaw(
          planOffers(pooledSources(model(sources)), atMost(bound), () => RAIL),
        );
        for (const each of sources) expect(chatPriceRaw(bound, each) <= heldRaw).toBe(true);
      }),
    );
  });

  it('an x402 offer holds only its margin, and its payment is capped at the price without margin', () => {
    const routed: Source = {
      ...source('routed', { text_input_token: 1_000_000n, text_output_token: 0n }),
      rail: 'x402-router' as const,
      marginBps: 333,
    };
    const bound = atMost({ inputTokens: 1_001, cachedTokens: 0, outputTokens: 0 });
    const [offer] = planOffers(pooledSources(model([routed])), bound, () => RAIL);
    expect(offer).toMatchObject({ mostPaidRaw: 1_001n, heldRaw: 34n, priceRaw: 1_035n });
    const dearer = source('dearer', { text_input_token: 2_000_000n, text_output_token: 0n });
    const both = planOffers(pooledSources(model([dearer, routed])), bound, () => RAIL);
    expect(both.map((each) => each.source.provider)).toEqual(['routed', 'dearer']);
    expect(holdForRaw(both)).toBe(both[1]?.priceRaw);
  });

  it('offers leave out sources without a rail', () => {
    const bound = { inputTokens: 1, cachedTokens: 0, outputTokens: 1 };
    expect(
      planOffers(pooledSources(model([source('x', {})])), atMost(bound), () => undefined),
    ).toEqual([]);
    expect(holdForRaw([])).toBe(0n);
  });
});
