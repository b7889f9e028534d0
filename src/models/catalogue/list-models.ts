import { formatUsdc } from '../../kernel/amount.ts';
import { BRAND } from '../../kernel/ids.ts';
import { MODEL_LIMITS } from '../limits.ts';
import type { Model, Source } from './catalogue.ts';

/** Parts of a source that determine its price. */
type Priced = Pick<Source, 'rates' | 'marginBps' | 'price'>;

/** Creation time of every model in the list, as the API's documentation has it. */
const CREATED = 1_735_689_600;

const BPS = 10_000n;

/** Rate units in one USD per million units: a rate counts 10^-6 USD per million units. */
const RATES_IN_USD = 1_000_000;

/** Returns the entry of a model in the plain, OpenAI-compatible list. */
const describeModel = (model: Model) => ({
  id: model.id,
  object: 'model',
  created: CREATED,
  owned_by: BRAND.ownedBy,
  modality: model.modality,
  context_window: model.contextWindow,
  max_output_tokens: model.maxOutputTokens,
  shutdown_date: model.retirement?.shutdownDate ?? null,
  ...(model.retirement?.successor && { successor: model.retirement.successor }),
});

/**
 * Returns the entry of a model in the list, with the prices of a million tokens: bought from the pool, and with the caller's
 * own key.
 */
const describeModelWithPricing = (model: Model) => ({
  ...describeModel(model),
  pricing: {
    unit: 'per_1m_tokens',
    currency: 'usdc',
    funded: fundedPrices(model.sources[0]),
    byok: { service_fee_usdc: formatUsdc(MODEL_LIMITS.byokFeeRaw), upstream: 'at_vendor_rate' },
    certainty: certaintyOf(model.sources[0]),
  },
});

/** Returns the description that the query `?include=` selects. Unknown values are ignored. */
export const describerFor = (include: string | undefined) =>
  include?.split(',').includes('pricing') ? describeModelWithPricing : describeModel;

/** Returns a model with all its sources and the upstreams' own rates, for the developer whose agents buy it. */
export const describeModelWithSources = (model: Model) => ({
  id: model.id,
  displayName: model.displayName ?? null,
  modality: model.modality,
  contextWindow: model.contextWindow,
  maxOutputTokens: model.maxOutputTokens,
  shutdownDate: model.retirement?.shutdownDate ?? null,
  successor: model.retirement?.successor ?? null,
  isOpenWeight: model.isOpenWeight ?? false,
  sources: model.sources.map(({ rail, provider, marginBps, rates, price }) => ({
    rail,
    provider,
    marginBps,
    price: price ?? null,
    rates: Object.fromEntries(
      Object.entries(rates).map(([unit, rate]) => [unit, Number(rate) / RATES_IN_USD]),
    ),
  })),
});

/** Returns the certainty of the quoted price. Rates without a note are the operator's own; null: the model is a cascade. */
const certaintyOf = (source: Priced | undefined) =>
  source === undefined ? null : (source.price?.certainty ?? 'list');

/**
 * Returns the prices of text tokens when the pool pays. A price is null when the cheapest source does not bill such tokens, or
 * bills cached tokens like all others.
 */
function fundedPrices(source: Priced | undefined) {
  const price = (rate: bigint | undefined) =>
    rate === undefined || source === undefined ? null : perMillion(rate, source.marginBps);
  return {
    input: price(source?.rates.text_input_token),
    output: price(source?.rates.text_output_token),
    cached_input: price(source?.rates.cached_input_token),
  };
}

/**
 * Formats a rate with its margin, in USDC per million units. A rate of 1 is 10^-6 USD per million units, which equals one raw
 * USDC.
 */
const perMillion = (rate: bigint, marginBps: number): string =>
  formatUsdc((rate * (BPS + BigInt(marginBps)) + BPS - 1n) / BPS);
