import { assert } from '../kernel/assert.ts';
import { LIMITS } from '../kernel/limits.ts';
import type { Rates, Unit, Usage } from '../kernel/price.ts';
import { parseRate, priceRaw } from '../kernel/price.ts';
import { missingRates } from './billed-units.ts';
import type { ModelEntry, ProviderEntry, RateTexts, SourceEntry } from './builtin/builtin-model.ts';
import { byokSource } from './byok-source.ts';
import type { Catalogue, Model, Provider, Source } from './catalogue.ts';

/** A large and ordinary amount of every kind of work, to put the sources of one model in an order. */
const YARDSTICK: Usage = {
  text_input_token: 3_000_000,
  text_output_token: 1_000_000,
  audio_input_token: 1_000_000,
  audio_output_token: 1_000_000,
  character: 1_000_000,
  audio_second: 100_000,
  request: 1_000,
};

export const ratesOf = (texts: RateTexts): Rates =>
  Object.fromEntries(
    Object.entries(texts).map(([unit, text]) => {
      const rate = parseRate(text);
      assert(rate !== undefined, `${unit} has a rate that can be read: ${text}`);
      return [unit as Unit, rate];
    }),
  );

export type UnpricedSource = {
  readonly model: string;
  readonly provider: string;
  readonly units: readonly Unit[];
};

/**
 * Keeps what can be bought: a source is enabled when its provider's credential is there and it has a rate
 * for whatever its modality bills, a model when one of its sources is. `unpriced` hears of each source
 * that only a rate is missing from. Every model's sources come cheapest first.
 */
export function buildCatalogue(entries: {
  readonly providers: ReadonlyMap<string, ProviderEntry>;
  readonly models: Iterable<ModelEntry>;
  readonly secret: (name: string) => string | undefined;
  readonly unpriced?: (source: UnpricedSource) => void;
}): Catalogue {
  const providers = new Map<string, Provider>();
  const open = new Set<string>();
  for (const [id, { apiKeyEnv, baseUrl, capMember, dialect }] of entries.providers) {
    const apiKey = apiKeyEnv === undefined ? null : entries.secret(apiKeyEnv);
    if (apiKey !== undefined) open.add(id);
    providers.set(id, { id, dialect, baseUrl, capMember, apiKey: apiKey ?? null });
  }

  const ownKeys = keyedProviders(entries.providers);
  const models = new Map<string, Model>();
  const keyed = new Map<string, Model>();
  const described = [...entries.models];
  for (const entry of described) {
    const keyedModel = modelOf(entry, ownKeySources(entry.sources, ownKeys));
    if (keyedModel.sources.length > 0) keyed.set(entry.id, keyedModel);
    const sources = entry.sources
      .filter((source) => source.rail !== 'byok' && open.has(source.provider))
      .filter((source) => {
        const units = missingRates(entry.modality, source);
        if (units.length === 0) return true;
        entries.unpriced?.({ model: entry.id, provider: source.provider, units });
        return false;
      })
      .map((source): Source => {
        const { marginBps = LIMITS.marginBps, rates } = source;
        return { ...source, marginBps, rates: ratesOf(rates) };
      });
    if (sources.length > 0) models.set(entry.id, modelOf(entry, cheapestFirst(sources)));
  }

  for (const entry of described) {
    const { cascade } = entry;
    const parts = cascade && [cascade.stt, cascade.llm, cascade.tts];
    if (parts?.every((id) => models.has(id))) models.set(entry.id, modelOf(entry, []));
  }

  const list = [...models.values()];
  return {
    models: list,
    keyedProviders: ownKeys,
    find: (id) => models.get(id),
    findKeyed: (id) => keyed.get(id),
    provider: (id) => providers.get(id),
    suggest(bareName) {
      const meant = list.filter(({ id }) => id.slice(id.indexOf('/') + 1) === bareName);
      return meant.length === 1 ? meant[0]?.id : undefined;
    },
  };
}

const modelOf = (entry: ModelEntry, sources: readonly Source[]): Model => ({
  id: entry.id,
  displayName: entry.displayName,
  modality: entry.modality,
  isOpenWeight: entry.isOpenWeight,
  contextWindow: entry.contextWindow ?? null,
  maxOutputTokens: entry.maxOutputTokens ?? null,
  cascade: entry.cascade,
  sources,
});

/** Each provider once. */
function ownKeySources(
  sources: readonly SourceEntry[],
  keyed: readonly string[],
): readonly Source[] {
  const found = new Map<string, Source>();
  for (const { provider, upstreamModel } of sources) {
    if (!keyed.includes(provider) || found.has(provider)) continue;
    found.set(provider, byokSource(provider, upstreamModel));
  }
  return [...found.values()];
}

const keyedProviders = (providers: ReadonlyMap<string, ProviderEntry>): string[] =>
  [...providers]
    .filter(([, { baseUrl, apiKeyEnv }]) => baseUrl !== null && apiKeyEnv !== undefined)
    .map(([id]) => id)
    .sort();

function cheapestFirst(sources: readonly Source[]): Source[] {
  return sources
    .map((source) => ({ source, price: priceRaw(YARDSTICK, source.rates, source.marginBps) }))
    .sort((a, b) => Number(a.price - b.price))
    .map(({ source }) => source);
}
