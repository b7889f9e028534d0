import type { Rates } from '../../kernel/price.ts';
import { makerOf } from '../../ledger/rules/destination.ts';
import { MODEL_LIMITS } from '../limits.ts';
import type { Catalogue, Model, Source } from './catalogue.ts';

/** Rate units in one raw unit: a rate counts 10^-12 USD, a raw unit 10^-6. */
const RATE_PER_RAW = 1_000_000n;

const FEE: Rates = { request: MODEL_LIMITS.byokFeeRaw * RATE_PER_RAW };

/** Returns a source of a model that the buyer pays with an account at the provider. This server charges only the fixed fee. */
export const byokSource = (
  provider: string,
  upstreamModel: string,
  {
    cacheLeastTokens,
    efforts,
    sampling,
    thinkingSwitch,
  }: Pick<Source, 'cacheLeastTokens' | 'efforts' | 'sampling' | 'thinkingSwitch'> = {},
): Source => ({
  rail: 'byok',
  provider,
  upstreamModel,
  rates: FEE,
  marginBps: 0,
  ...(cacheLeastTokens !== undefined && { cacheLeastTokens }),
  ...(thinkingSwitch !== undefined && { thinkingSwitch }),
  ...(efforts !== undefined && { efforts }),
  ...(sampling !== undefined && { sampling }),
});

/** Returns the vendor that a provider belongs to. A provider that is no longer in the catalogue counts as a vendor itself. */
export const vendorOf = (catalogue: Pick<Catalogue, 'provider'>, provider: string): string =>
  catalogue.provider(provider)?.vendor ?? provider;

/** Returns the source that a caller's key is for when the key names no provider: the model's only source, or its maker's. */
export const impliedSource = ({ id, sources }: Model): Source | undefined =>
  sources.length === 1 ? sources[0] : sources.find(({ provider }) => provider === makerOf(id));
