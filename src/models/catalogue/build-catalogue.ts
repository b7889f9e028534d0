import { assert } from '../../kernel/assert.ts';
import type { Rates, Unit, Usage } from '../../kernel/price.ts';
import { parseRate, priceRaw } from '../../kernel/price.ts';
import { MODEL_LIMITS } from '../limits.ts';
import { missingRates } from './billed-units.ts';
import type { ModelEntry, ProviderEntry, RateTexts, SourceEntry } from './builtin/builtin-model.ts';
import { byokSource } from './byok-source.ts';
import type { Catalogue, Model, Provider, Source } from './catalogue.ts';
import { retirementOf } from './retirement.ts';

/** Sample usage of every unit, by whose price the sources of a model are sorted. */
const YARDSTICK: Usage = {
  text_input_token: 3_000_000,
  text_output_token: 1_000_000,
  audio_input_token: 1_000_000,
  audio_output_token: 1_000_000,
  character: 1_000_000,
  audio_second: 100_000,
  request: 1_000,
};

const ratesOf = (texts: RateTexts): Rates =>
  Object.fromEntries(
    Object.entries(texts).map(([unit, text]) => {
      const rate = parseRate(text);
      assert(rate !== undefined, `${unit} has a rate that can be read: ${text}`);
      return [unit as Unit, rate];
    }),
  );

/** Builds a source. All members are written out, so that V8 gives all sources one hidden class (docs/decisions/0075). */
const sourceOf = (entry: SourceEntry): Source => ({
  rail: entry.rail,
  provider: entry.provider,
  upstreamModel: entry.upstreamModel,
  rates: ratesOf(entry.rates),
  marginBps: entry.marginBps ?? MODEL_LIMITS.marginBps,
  thinkingSwitch: entry.thinkingSwitch,
  price: entry.price,
  longPrompt: entry.longPrompt,
  cacheWritePercent: entry.cacheWritePercent,
  cacheLeastTokens: entry.cacheLeastTokens,
  imageTokens: entry.imageTokens,
  efforts: entry.efforts,
  sampling: entry.sampling,
});

export type UnpricedSource = {
  readonly model: string;
  readonly provider: string;
  readonly units: readonly Unit[];
};

/**
 * Builds a catalogue of the models that are for sale. A source is enabled when its provider's credential is set and it has a
 * rate for every unit that its modality bills; a model when one of its sources is enabled, the cheapest first. `unpriced` is
 * called for each source that lacks only a rate.
 */
export function buildCatalogue(entries: {
  readonly providers: ReadonlyMap<string, ProviderEntry>;
  readonly models: Iterable<ModelEntry>;
  readonly secret: (name: string) => string | undefined;
  readonly unpriced?: (source: UnpricedSource) => void;
}): Catalogue {
  const providers = new Map<string, Provider>();
  const open = new Set<string>();
  for (const [id, entry] of entries.providers) {
    const { apiKeyEnv, baseUrl, capMember, dialect, vendor = id } = entry;
    const { callIds, chatMembers, signsCalls, speaksResponses, strictOrder, thoughts } = entry;
    const apiKey = apiKeyEnv === undefined ? null : entries.secret(apiKeyEnv);
    if (apiKey !== undefined) open.add(id);
    const habits = { callIds, capMember, chatMembers, signsCalls, speaksResponses, strictOrder };
    const opened = { baseUrl, thoughts, ...habits, apiKey: apiKey ?? null };
    providers.set(id, { id, vendor, dialect, ...opened });
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
      .map(sourceOf);
    if (sources.length > 0) models.set(entry.id, modelOf(entry, cheapestFirst(sources)));
  }

  for (const entry of described) {
    const { cascade } = entry;
    const parts = cascade && [cascade.stt, cascade.llm, cascade.tts];
    if (parts?.every((id) => models.has(id))) models.set(entry.id, modelOf(entry, []));
  }

  const bareNames = idsByBareName([...models.keys(), ...keyed.keys()]);
  const suggest = (name: string): readonly string[] => [...(bareNames.get(name) ?? [])];
  /** Returns the full id for a bare name that exactly one maker uses, and any other text unchanged. */
  const wholeId = (id: string): string => {
    const [only, ...others] = id.includes('/') ? [] : suggest(id);
    return only === undefined || others.length > 0 ? id : only;
  };
  return {
    models: [...models.values()],
    keyedProviders: vendorsOf(ownKeys, entries.providers),
    keyedModels: [...keyed.values()],
    find: (id) => models.get(wholeId(id)),
    findKeyed: (id) => keyed.get(wholeId(id)),
    provider: (id) => providers.get(id),
    suggest,
  };
}

function idsByBareName(ids: readonly string[]): ReadonlyMap<string, ReadonlySet<string>> {
  const byName = new Map<string, Set<string>>();
  for (const id of ids) {
    const name = id.slice(id.indexOf('/') + 1);
    byName.set(name, (byName.get(name) ?? new Set()).add(id));
  }
  return byName;
}

function modelOf(entry: ModelEntry, sources: readonly Source[]): Model {
  const { noticeDate, shutdownDate, successor = null } = entry;
  return {
    id: entry.id,
    displayName: entry.displayName,
    modality: entry.modality,
    isOpenWeight: entry.isOpenWeight,
    contextWindow: entry.contextWindow ?? null,
    maxOutputTokens: entry.maxOutputTokens ?? null,
    ...(shutdownDate && { retirement: retirementOf({ shutdownDate, noticeDate, successor }) }),
    cascade: entry.cascade,
    sources,
  };
}

/** Returns one source for each provider at which a caller's own key can pay. */
function ownKeySources(
  sources: readonly SourceEntry[],
  keyed: readonly string[],
): readonly Source[] {
  const found = new Map<string, Source>();
  for (const source of sources) {
    const { provider, upstreamModel } = source;
    if (!keyed.includes(provider) || found.has(provider)) continue;
    found.set(provider, byokSource(provider, upstreamModel, source));
  }
  return [...found.values()];
}

const keyedProviders = (providers: ReadonlyMap<string, ProviderEntry>): string[] =>
  [...providers]
    .filter(([, { baseUrl, apiKeyEnv }]) => baseUrl !== null && apiKeyEnv !== undefined)
    .map(([id]) => id)
    .sort();

/** Returns the vendors that the providers belong to, whose keys they take. One vendor may have several addresses. */
const vendorsOf = (
  ids: readonly string[],
  providers: ReadonlyMap<string, ProviderEntry>,
): readonly string[] => [...new Set(ids.map((id) => providers.get(id)?.vendor ?? id))].sort();

function cheapestFirst(sources: readonly Source[]): Source[] {
  return sources
    .map((source) => ({ source, price: priceRaw(YARDSTICK, source.rates, source.marginBps) }))
    .sort((a, b) => Number(a.price - b.price))
    .map(({ source }) => source);
}
