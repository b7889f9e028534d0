import type { Rates } from '../../kernel/price.ts';
import type { ChatMember } from '../providers/chat-members.ts';
import type { Effort } from '../providers/efforts.ts';
import type { CallIdFormName } from '../providers/fit/call-ids.ts';
import type { Sampling } from '../providers/sampling.ts';
import type { CapMember, TakenThoughts } from '../providers/upstream-pool.ts';
import type { Retirement } from './retirement.ts';

export const MODALITIES = ['text', 'embedding', 'tts', 'stt', 'realtime'] as const;
export type Modality = (typeof MODALITIES)[number];

export const RAILS = [
  'direct-account',
  'self-host',
  'aggregator',
  'x402-router',
  'byok',
  'free',
] as const;
export type Rail = (typeof RAILS)[number];

/**
 * Certainty of a price. `list`: read on the vendor's own page or in two independent copies of it; `unconfirmed`: in one copy.
 */
export const CERTAINTIES = ['list', 'unconfirmed'] as const;
export type Certainty = (typeof CERTAINTIES)[number];

/** Source of a price and the day on which it was read (`YYYY-MM-DD`). */
export type PriceNote = {
  readonly source: string;
  readonly readOn: string;
  readonly certainty: Certainty;
};

/**
 * Vendor's surcharges on its rates, and their conditions. OpenAI, Google, Anthropic and xAI publish such rules beside prices.
 */
export type Surcharges = {
  /** Percentages of the usual rates for a request whose prompt has more than `above` tokens. The answer costs more, too. */
  readonly longPrompt?:
    | { readonly above: number; readonly inputPercent: number; readonly outputPercent: number }
    | undefined;
  /** Surcharge for a prompt token that the vendor writes to its cache, in percent of the input rate. */
  readonly cacheWritePercent?: number | undefined;
  /** Shortest prompt that the vendor caches, in tokens. Undefined: the usual minimum. */
  readonly cacheLeastTokens?: number | undefined;
  /** Upper bound of the tokens that the vendor counts for one image. Undefined: the usual bound. */
  readonly imageTokens?: number | undefined;
};

/** Way to reach a model at a provider, with its rates. */
export type Source = Surcharges & {
  readonly rail: Rail;
  readonly provider: string;
  readonly upstreamModel: string;
  readonly rates: Rates;
  readonly marginBps: number;
  /**
   * True when the model thinks unless `thinking` is `disabled`. Undefined: the model has no such switch, or cannot be switched
   * off.
   */
  readonly thinkingSwitch?: boolean | undefined;
  /** Origin of the rates. Undefined: the rates are this server's own. */
  readonly price?: PriceNote | undefined;
  /**
   * Efforts that the model takes in a translated request. Absent: unknown or none, and the request is sent without an effort. A
   * relayed model with efforts reasons.
   */
  readonly efforts?: readonly Effort[] | undefined;
  /** Rule for `temperature` and `top_p` in a translated request. Absent: the model takes both. */
  readonly sampling?: Sampling | undefined;
};

/** Models that together serve a voice session. */
export type Cascade = { readonly stt: string; readonly llm: string; readonly tts: string };

export type Model = {
  /** Id in the form `<maker>/<name>`. */
  readonly id: string;
  /** Name for people. Undefined when the id is sufficient. */
  readonly displayName?: string | undefined;
  readonly modality: Modality;
  /** True when the maker is known to publish the weights. */
  readonly isOpenWeight?: boolean | undefined;
  readonly contextWindow: number | null;
  /** Upper bound of the output tokens of one answer. Null: not known. */
  readonly maxOutputTokens: number | null;
  /** Shutdown of the model, once its vendor has announced the date. Undefined: none is known. */
  readonly retirement?: Retirement | undefined;
  /** Models that serve a realtime model. Undefined for a model with its own sources. */
  readonly cascade?: Cascade | undefined;
  /** Sources of the model, the cheapest first. */
  readonly sources: readonly Source[];
};

export type Dialect =
  | 'local'
  | 'openai'
  | 'anthropic'
  | 'deepgram'
  | 'openai-realtime'
  | 'openai-live'
  | 'cartesia'
  | 'elevenlabs'
  | 'rime'
  | 'assemblyai'
  | 'assemblyai-batch';

export type Provider = {
  readonly id: string;
  /** Id of the provider whose keys open this one: its own id, or the id of the same vendor's main address. */
  readonly vendor: string;
  readonly dialect: Dialect;
  readonly baseUrl: string | null;
  readonly capMember?: CapMember | undefined;
  /** Members of a chat that only some vendors accept and this source does. */
  readonly chatMembers?: readonly ChatMember[] | undefined;
  /** True when the provider has OpenAI's Responses API beside its chat completions. */
  readonly speaksResponses?: boolean | undefined;
  readonly thoughts?: TakenThoughts | undefined;
  /**
   * True when the provider signs tool calls in its answers as Google does, and refuses calls that come back without their
   * signatures.
   */
  readonly signsCalls?: boolean | undefined;
  /** Form of call ids that the provider's chat accepts. Undefined: any text. */
  readonly callIds?: CallIdFormName | undefined;
  /**
   * True when the provider refuses a chat in which a user's message directly follows tool results, or in which instructions
   * follow an answer.
   */
  readonly strictOrder?: boolean | undefined;
  /** This server's own key; null when the provider needs none, or when callers must bring theirs. */
  readonly apiKey: string | null;
};

/** Models that at least one enabled source serves. */
export interface Catalogue {
  readonly models: readonly Model[];
  /** Vendors at which a caller can have a key, even when this server has none. */
  readonly keyedProviders: readonly string[];
  /** Models that a buyer's own keys can pay for, in the form of `findKeyed`. */
  readonly keyedModels: readonly Model[];
  /** Returns a model by its id, or by its name without the maker when only one maker has a model of that name. */
  find(id: string): Model | undefined;
  /**
   * Returns a model for payment with the buyer's own keys, also a model that this server does not sell. Each source bills only
   * the fixed fee.
   */
  findKeyed(id: string): Model | undefined;
  provider(id: string): Provider | undefined;
  /** Returns the ids of the models that a name without its maker may mean. */
  suggest(bareName: string): readonly string[];
}
