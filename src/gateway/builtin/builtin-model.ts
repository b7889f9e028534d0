import type { Unit } from '../../kernel/price.ts';
import type { Dialect, Modality, Rail } from '../catalogue.ts';

/** Rates as they are published: USD per million units, decimal. */
export type RateTexts = Readonly<Partial<Record<Unit, string>>>;

export type SourceEntry = {
  readonly rail: Rail;
  readonly provider: string;
  readonly upstreamModel: string;
  readonly rates: RateTexts;
  readonly marginBps?: number | undefined;
};

/** A model as data, before it is known which of its sources this server has credentials for. */
export type ModelEntry = {
  readonly id: string;
  readonly modality: Modality;
  readonly contextWindow?: number | null | undefined;
  readonly maxOutputTokens?: number | null | undefined;
  readonly sources: readonly SourceEntry[];
};

export type ProviderEntry = {
  readonly baseUrl: string | null;
  /** The variable that holds the credential; none for an upstream that asks for none. */
  readonly apiKeyEnv?: string | undefined;
  readonly dialect: Dialect;
};

/** Ids that are known by name only: without a published rate nothing is sold until a file prices them. */
export const unpriced = (modality: Modality, maker: string, names: string): ModelEntry[] =>
  names.split(' ').map((name) => ({ id: `${maker}/${name}`, modality, sources: [] }));

/** The maker's own account, under the maker's own name of the model. */
export const direct = (
  modality: Modality,
  id: `${string}/${string}`,
  rates: RateTexts,
  more: { provider?: string; contextWindow?: number; marginBps?: number } = {},
): ModelEntry => {
  const [maker = '', ...name] = id.split('/');
  const { provider = maker, contextWindow, marginBps } = more;
  const upstreamModel = name.join('/');
  return {
    id,
    modality,
    contextWindow,
    sources: [{ rail: 'direct-account', provider, upstreamModel, rates, marginBps }],
  };
};

/** Input, output and, where the vendor discounts them, cached input tokens. */
export const tokens = (input: string, output: string, cached?: string): RateTexts => ({
  text_input_token: input,
  text_output_token: output,
  ...(cached === undefined ? {} : { cached_input_token: cached }),
});
