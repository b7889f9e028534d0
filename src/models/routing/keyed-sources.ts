import { PROVIDER_KEY_HEADER } from '../../accounts/provider-keys/provider-key-header.ts';
import type { ProviderKeys } from '../../accounts/provider-keys/provider-keys.ts';
import { impliedSource } from '../catalogue/byok-source.ts';
import type { Catalogue, Model, Source } from '../catalogue/catalogue.ts';
import { gatewayErrors } from '../errors.ts';
import type { Buyer } from '../purchase/buyer.ts';

/** Source, with the buyer's own key at its provider when that key pays. */
export type KeyedSource = {
  readonly source: Source;
  readonly ownKey: string | undefined;
  /** Rank of the source in the buyer's preference. Sources of equal rank are attempted by price. */
  readonly rank?: number | undefined;
};

/** Model with the sources that may serve it. */
export type ModelSources = {
  readonly model: Model;
  readonly sources: readonly KeyedSource[];
};

/** Returns every source of a model, paid from the pool. */
export const pooledSources = (model: Model): ModelSources => ({
  model,
  sources: model.sources.map((source) => ({ source, ownKey: undefined })),
});

/** Returns true when the buyer pays the providers with keys of its own. */
export const arePaidByBuyer = ({ sources }: ModelSources): boolean =>
  sources[0]?.ownKey !== undefined;

/** Provider keys that the developer has stored. */
export type StoredKeys = Pick<ProviderKeys, 'find' | 'noteUse'>;

/**
 * Returns the sources that the buyer's own keys pay: with the key of the request, or with all stored keys. Undefined when no
 * provider of the model has such a key. A key in the header does not name its provider, so with several providers it counts as
 * the maker's. Throws the refusal when none of them is the maker, because the key must not be sent to another provider.
 */
export async function findOwnSources(
  deps: {
    readonly catalogue: Pick<Catalogue, 'findKeyed'>;
    readonly providerKeys: Pick<StoredKeys, 'find'>;
  },
  modelId: string,
  { accountId, providerKey }: Pick<Buyer, 'accountId' | 'providerKey'>,
): Promise<ModelSources | undefined> {
  const model = deps.catalogue.findKeyed(modelId);
  if (model === undefined) return undefined;
  if (providerKey !== undefined) {
    return { model, sources: [{ source: requireImplied(model), ownKey: providerKey }] };
  }
  const sources: KeyedSource[] = [];
  for (const source of model.sources) {
    const ownKey = await deps.providerKeys.find(accountId, source.provider);
    if (ownKey !== undefined) sources.push({ source, ownKey });
  }
  return sources.length === 0 ? undefined : { model, sources };
}

/** Returns the source whose provider the request's key belongs to. Throws the refusal when that is ambiguous. */
export function requireImplied(model: Model): Source {
  const implied = impliedSource(model);
  if (implied !== undefined) return implied;
  const hosts = model.sources.map(({ provider }) => provider).join(', ');
  throw gatewayErrors.invalidRequest(
    `"${model.id}" is served by ${hosts}, and a key in a header does not say whose it is; store it with PUT /v1/developer/provider-keys/{provider}.`,
    PROVIDER_KEY_HEADER,
  );
}
