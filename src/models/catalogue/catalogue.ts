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
  /** The shortest prompt that it caches, in tokens, where that is not what most vendors have. */
  readonly cacheLeastTokens?: number | undefined;
  /** The most tokens that it counts for one image, where that is more than others do. */
  readonly imageTokens?: number | undefined;
};

/** Way to reach a model at a provider, with its rates. */
export type Source = Surcharges & {
  readonly rail: Rail;
  readonly provider: string;
  readonly upstreamModel: string;
  readonly rates: Rates;
  readonly marginBps: number;
  /** The model thinks unless `thinking` says `disabled`. Absent: it knows no such switch, or refuses to be switched off. */
  readonly thinkingSwitch?: boolean | undefined;
  /** Absent where the rates are this server's own. */
  readonly price?: PriceNote | undefined;
  /**
   * Efforts that the model takes in a translated request. Absent: unknown or none, and the request is sent without an effort. A
   * relayed model with efforts reasons.
   */
  readonly efforts?: readonly Effort[] | undefined;
  /** Rule for `temperature` and `top_p` in a translated request. Absent: the model takes both. */
  readonly sampling?: Sampling | undefined;
};

/** The models that together make a voice session. */
export type Cascade = { readonly stt: string; readonly llm: string; readonly tts: string };

export type Model = {
  /** `<maker>/<name>` */
  readonly id: string;
  /** For people; none where the id says it all. */
  readonly displayName?: string | undefined;
  readonly modality: Modality;
  /** True when the maker is known to publish the weights. */
  readonly isOpenWeight?: boolean | undefined;
  readonly contextWindow: number | null;
  /** At most this many output tokens in one answer, where it is known. */
  readonly maxOutputTokens: number | null;
  /** Set from when its vendor has said on which day it shuts the model down. */
  readonly retirement?: Retirement | undefined;
  /** Set where a realtime model is made of others: it has no sources of its own. */
  readonly cascade?: Cascade | undefined;
  /** Cheapest first. */
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
  /** The form of the ids of calls that its chat accepts. Absent: any text. */
  readonly callIds?: CallIdFormName | undefined;
  /**
   * True when the provider refuses a chat in which the user speaks directly behind tool results, or in which instructions
   * follow an answer.
   */
  readonly strictOrder?: boolean | undefined;
  /** This server's own key; null when the provider needs none, or when callers must bring theirs. */
  readonly apiKey: string | null;
};

/** Every model that some enabled source serves. */
export interface Catalogue {
  readonly models: readonly Model[];
  /** Vendors at which a caller can have a key, even when this server has none. */
  readonly keyedProviders: readonly string[];
  /** Models that a buyer's own keys can open, as `findKeyed` has them. */
  readonly keyedModels: readonly Model[];
  /** By its id, or by its bare name where one maker alone has a model of that name. */
  find(id: string): Model | undefined;
  /** A model as its buyer's own keys open it, whether or not this server sells it: each source bills the fixed fee alone. */
  findKeyed(id: string): Model | undefined;
  provider(id: string): Provider | undefined;
  /** The ids that a bare name may mean. */
  suggest(bareName: string): readonly string[];
}
