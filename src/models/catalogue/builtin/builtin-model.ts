import type { Unit } from '../../../kernel/price.ts';
import type { ChatMember } from '../../providers/chat-members.ts';
import type { Effort } from '../../providers/efforts.ts';
import type { CallIdFormName } from '../../providers/fit/call-ids.ts';
import type { Sampling } from '../../providers/sampling.ts';
import type { CapMember, TakenThoughts } from '../../providers/upstream-pool.ts';
import type { Cascade, Dialect, Modality, PriceNote, Rail, Surcharges } from '../catalogue.ts';

/** Published rates: USD per million units, as decimal texts. */
export type RateTexts = Readonly<Partial<Record<Unit, string>>>;

export type SourceEntry = Surcharges & {
  readonly rail: Rail;
  readonly provider: string;
  readonly upstreamModel: string;
  readonly rates: RateTexts;
  readonly marginBps?: number | undefined;
  readonly thinkingSwitch?: boolean | undefined;
  /** Source and certainty of the rates. Every built-in rate has a note, except the rates of this server's own engines. */
  readonly price?: PriceNote | undefined;
  readonly efforts?: readonly Effort[] | undefined;
  readonly sampling?: Sampling | undefined;
};

/** Entry of a model, with all its sources, including those without credentials on this server. */
export type ModelEntry = {
  readonly id: string;
  readonly displayName?: string | undefined;
  readonly modality: Modality;
  readonly isOpenWeight?: boolean | undefined;
  readonly contextWindow?: number | null | undefined;
  readonly maxOutputTokens?: number | null | undefined;
  /** Day on which the vendor shuts the model down, `YYYY-MM-DD`. */
  readonly shutdownDate?: string | null | undefined;
  /** Day on which the vendor announced the shutdown, or on which the notice was first read here. */
  readonly noticeDate?: string | undefined;
  /** Catalogue id of the model that replaces this one. */
  readonly successor?: string | null | undefined;
  readonly cascade?: Cascade | undefined;
  readonly sources: readonly SourceEntry[];
};

export type ProviderEntry = {
  readonly baseUrl: string | null;
  /** Name of the environment variable with the credential. Undefined: the upstream requires none. */
  readonly apiKeyEnv?: string | undefined;
  readonly dialect: Dialect;
  readonly capMember?: CapMember | undefined;
  readonly chatMembers?: readonly ChatMember[] | undefined;
  readonly speaksResponses?: boolean | undefined;
  readonly thoughts?: TakenThoughts | undefined;
  readonly signsCalls?: boolean | undefined;
  readonly callIds?: CallIdFormName | undefined;
  readonly strictOrder?: boolean | undefined;
  /** Provider that is the same vendor under its main address. A key stored for that provider opens this one as well. */
  readonly vendor?: string | undefined;
};

/** Returns the note of a price that was read on the vendor's own page, or in two independent copies of that page. */
export const listed = (source: string, readOn: string): PriceNote => ({
  source,
  readOn,
  certainty: 'list',
});

/** Returns the note of a price that was read in only one copy of the vendor's prices, or on a page that announces a change. */
export const unconfirmed = (source: string, readOn: string): PriceNote => ({
  source,
  readOn,
  certainty: 'unconfirmed',
});

/** Returns entries for models without a published rate. They are not sold until a catalogue file prices them. */
export const unpriced = (modality: Modality, maker: string, names: string): ModelEntry[] =>
  names.split(' ').map((name) => ({ id: `${maker}/${name}`, modality, sources: [] }));

/**
 * Returns entries for models that lack only a rate. The log at start names them to an operator with an account at their maker.
 */
export const unpricedDirect = (
  modality: Modality,
  maker: string,
  names: string,
  provider = maker,
): ModelEntry[] =>
  names.split(' ').map((name) => direct(modality, `${maker}/${name}`, {}, { provider }));

/** Returns the models, marked as models with published weights. */
export const openWeight = (models: readonly ModelEntry[]): ModelEntry[] =>
  models.map((model) => ({ ...model, isOpenWeight: true }));

/** Builds a model that this server buys from its maker, under the maker's own name of the model. */
export const direct = (
  modality: Modality,
  id: `${string}/${string}`,
  rates: RateTexts,
  more: Surcharges & {
    readonly provider?: string;
    readonly upstreamModel?: string;
    readonly contextWindow?: number | undefined;
    readonly maxOutputTokens?: number | undefined;
    readonly marginBps?: number;
    readonly thinkingSwitch?: boolean;
    readonly price?: PriceNote;
    readonly efforts?: readonly Effort[];
    readonly sampling?: Sampling;
  } = {},
): ModelEntry => {
  const [maker = '', ...name] = id.split('/');
  const { contextWindow, maxOutputTokens, ...source } = more;
  const { provider = maker, upstreamModel = name.join('/') } = source;
  return {
    id,
    modality,
    contextWindow,
    maxOutputTokens,
    sources: [{ rail: 'direct-account', ...source, provider, upstreamModel, rates }],
  };
};

/** Returns the rates of input, output and, when the vendor discounts them, cached input tokens. */
export const tokens = (input: string, output: string, cached?: string): RateTexts => ({
  text_input_token: input,
  text_output_token: output,
  ...(cached === undefined ? {} : { cached_input_token: cached }),
});

/** Builds a model with published weights that several hosts serve. */
export const hosted = (
  modality: Modality,
  id: `${string}/${string}`,
  hosts: readonly Omit<SourceEntry, 'rail'>[],
): ModelEntry => ({
  id,
  modality,
  isOpenWeight: true,
  sources: hosts.map((host) => ({ rail: 'self-host', ...host })),
});

/**
 * Converts a published price of one minute in micro-USD to a rate, in USD per million seconds with six decimals, rounded up.
 */
export const perMinute = (microUsd: number): RateTexts => {
  const picoUsdPerSecond = Math.ceil((microUsd * 1_000_000) / 60);
  return { audio_second: (picoUsdPerSecond / 1_000_000).toFixed(6) };
};

/** Converts a published price of a thousand characters in micro-USD to a rate. */
export const perThousandCharacters = (microUsd: number): RateTexts => ({
  character: (microUsd / 1_000).toFixed(3),
});
