import type { Rates } from '../kernel/price.ts';
import type { CapMember } from '../rails/upstream-pool.ts';

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

/** One place that serves a model, and what it charges. */
export type Source = {
  readonly rail: Rail;
  readonly provider: string;
  readonly upstreamModel: string;
  readonly rates: Rates;
  readonly marginBps: number;
};

/** The models that together make a voice session. */
export type Cascade = { readonly stt: string; readonly llm: string; readonly tts: string };

export type Model = {
  /** `<maker>/<name>` */
  readonly id: string;
  /** For people; none where the id says it all. */
  readonly displayName?: string | undefined;
  readonly modality: Modality;
  /** Whether the maker is known to publish the weights. */
  readonly isOpenWeight?: boolean | undefined;
  readonly contextWindow: number | null;
  /** At most this many output tokens in one answer, where it is known. */
  readonly maxOutputTokens: number | null;
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
  | 'cartesia'
  | 'elevenlabs'
  | 'rime'
  | 'assemblyai';

export type Provider = {
  readonly id: string;
  readonly dialect: Dialect;
  readonly baseUrl: string | null;
  readonly capMember?: CapMember | undefined;
  /** This server's own; null where none is asked for, or where callers have to bring theirs. */
  readonly apiKey: string | null;
};

/** Every model that some enabled source serves. */
export interface Catalogue {
  readonly models: readonly Model[];
  /** Providers that a caller can have a key of his own at, by name, whether or not this server has one. */
  readonly keyedProviders: readonly string[];
  find(id: string): Model | undefined;
  /** A model as its buyer's own keys open it, whether or not this server sells it: each source bills the fixed fee alone. */
  findKeyed(id: string): Model | undefined;
  provider(id: string): Provider | undefined;
  /** The full id that a bare name most likely meant, when exactly one model ends in it. */
  suggest(bareName: string): string | undefined;
}
