import type { Upstream } from '../rails/upstream-pool.ts';
import type { Catalogue, Dialect, Modality, Source } from './catalogue.ts';

/** The way to each provider that models of one modality can be bought from. */
export interface Rails<R> extends AsyncDisposable {
  /** Undefined: this server cannot buy from such a source. */
  railOf(source: Source): R | undefined;
}

/**
 * Opens one rail for each provider that a model of the modality names. A provider of a dialect that `open` does not
 * know, and a rail that is paid in another way, have none and are passed over.
 */
export function openRails<R>(deps: {
  readonly catalogue: Catalogue;
  readonly modality: Modality;
  /** The engine inside this server. */
  readonly local: R;
  readonly open: (dialect: Dialect, upstream: Upstream) => (R & AsyncDisposable) | undefined;
}): Rails<R> {
  const { catalogue, local, open } = deps;
  const remote = new Map<string, R & AsyncDisposable>();
  const models = catalogue.models.filter(({ modality }) => modality === deps.modality);
  for (const { provider: id } of models.flatMap(({ sources }) => sources)) {
    const provider = catalogue.provider(id);
    if (provider === undefined || provider.baseUrl === null || remote.has(id)) continue;
    const { apiKey, baseUrl, dialect } = provider;
    const rail = open(dialect, { baseUrl, apiKey });
    if (rail !== undefined) remote.set(id, rail);
  }
  return {
    railOf({ rail, provider }) {
      if (rail === 'byok' || rail === 'x402-router') return undefined;
      return provider === 'local' ? local : remote.get(provider);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...remote.values()].map((rail) => rail[Symbol.asyncDispose]()));
    },
  };
}
