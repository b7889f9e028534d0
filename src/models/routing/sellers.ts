import { PROVIDER_KEY_HEADER } from '../../accounts/provider-keys/provider-key-header.ts';
import type { ProviderKeys } from '../../accounts/provider-keys/provider-keys.ts';
import { errors } from '../../kernel/errors.ts';
import { impliedSource } from '../catalogue/byok-source.ts';
import type { Catalogue, Model, Source } from '../catalogue/catalogue.ts';
import type { Buyer } from '../purchase/buyer.ts';

/** A source, and the buyer's own key at its provider where it is to be paid with that. */
export type Seller = {
  readonly source: Source;
  readonly ownKey: string | undefined;
  /** Its place in the order that the buyer wishes; those of one place are asked by price. */
  readonly rank?: number | undefined;
};

/** A model, and who may serve it. */
export type Sellers = {
  readonly model: Model;
  readonly sellers: readonly Seller[];
};

/** Every source of a model, paid from the pool. */
export const pooledSellers = (model: Model): Sellers => ({
  model,
  sellers: model.sources.map((source) => ({ source, ownKey: undefined })),
});

/** Returns true when the buyer pays the providers with keys of its own. */
export const arePaidByBuyer = ({ sellers }: Sellers): boolean => sellers[0]?.ownKey !== undefined;

/** Provider keys that the developer has stored. */
export type StoredKeys = Pick<ProviderKeys, 'find' | 'noteUse'>;

/**
 * Those who serve a model for the buyer's own keys: the one that came with the request, or all that are stored. None
 * where no provider of it takes keys. A key in the header does not say whose it is: with several providers it is taken
 * for the maker's, and refused where none of them is the maker, since it must not be shown to another provider.
 */
export async function findOwnSellers(
  deps: {
    readonly catalogue: Pick<Catalogue, 'findKeyed'>;
    readonly providerKeys: Pick<StoredKeys, 'find'>;
  },
  modelId: string,
  { accountId, providerKey }: Pick<Buyer, 'accountId' | 'providerKey'>,
): Promise<Sellers | undefined> {
  const model = deps.catalogue.findKeyed(modelId);
  if (model === undefined) return undefined;
  if (providerKey !== undefined) {
    return { model, sellers: [{ source: requireImplied(model), ownKey: providerKey }] };
  }
  const sellers: Seller[] = [];
  for (const source of model.sources) {
    const ownKey = await deps.providerKeys.find(accountId, source.provider);
    if (ownKey !== undefined) sellers.push({ source, ownKey });
  }
  return sellers.length === 0 ? undefined : { model, sellers };
}

/** The provider that a request's own key is meant for. Throws the refusal where that is not clear. */
export function requireImplied(model: Model): Source {
  const implied = impliedSource(model);
  if (implied !== undefined) return implied;
  const hosts = model.sources.map(({ provider }) => provider).join(', ');
  throw errors.gateway.invalidRequest(
    `"${model.id}" is served by ${hosts}, and a key in a header does not say whose it is; store it with PUT /v1/developer/provider-keys/{provider}.`,
    PROVIDER_KEY_HEADER,
  );
}
