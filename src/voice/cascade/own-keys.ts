import { PROVIDER_KEY_HEADER } from '../../accounts/provider-keys/provider-key-header.ts';
import { impliedSource, vendorOf } from '../../models/catalogue/byok-source.ts';
import type { Catalogue, Model, Source } from '../../models/catalogue/catalogue.ts';
import { gatewayErrors } from '../../models/errors.ts';
import type { Buyer } from '../../models/purchase/buyer.ts';
import {
  findOwnSources,
  type KeyedSource,
  requireImplied,
  type StoredKeys,
} from '../../models/routing/keyed-sources.ts';

/** The caller's own provider keys in one session. */
export interface OwnKeys {
  /** Returns the sources of a model that the keys give access to, as of the last `lookUp`. */
  sourcesOf(modelId: string): readonly KeyedSource[];
  /** Looks the keys for a model up again, since a developer may change keys during a session. */
  lookUp(modelId: string): Promise<void>;
  /** Records that a call to a source used its key. */
  noteUse(source: Source): Promise<void>;
}

type Deps = {
  readonly catalogue: Pick<Catalogue, 'find' | 'findKeyed' | 'provider' | 'suggest'>;
  readonly providerKeys: StoredKeys;
};

export type ProviderKeyOwner = Pick<Buyer, 'accountId' | 'providerKey'>;

/**
 * Opens the keys for the models of a session: the key in its handshake, or all stored keys. Throws the refusal of a model that
 * is available neither with these keys nor in the pool, and of a key whose provider is ambiguous.
 */
export async function openOwnKeys(
  deps: Deps,
  parts: readonly Model[],
  owner: ProviderKeyOwner,
): Promise<OwnKeys> {
  const keys = createOwnKeys(deps, owner, requireOneHolder(deps, parts, owner));
  await Promise.all(parts.map(({ id }) => keys.lookUp(id)));
  for (const { id } of parts) {
    if (deps.catalogue.find(id) === undefined && keys.sourcesOf(id).length === 0) {
      throw gatewayErrors.modelNotFound(id, deps.catalogue.suggest(id));
    }
  }
  return keys;
}

function createOwnKeys(
  { catalogue, providerKeys }: Deps,
  { accountId, providerKey }: ProviderKeyOwner,
  holder: string | undefined,
): OwnKeys {
  const known = new Map<string, readonly KeyedSource[]>();

  /** Returns the model's source for the handshake's key; an empty list when the source's vendor does not hold the key. */
  function broughtFor(model: Model | undefined, ownKey: string): readonly KeyedSource[] {
    const source = model && impliedSource(model);
    const isHolder = source !== undefined && vendorOf(catalogue, source.provider) === holder;
    return isHolder ? [{ source, ownKey }] : [];
  }

  return {
    sourcesOf: (modelId) => known.get(modelId) ?? [],
    async lookUp(modelId) {
      if (providerKey !== undefined) {
        known.set(modelId, broughtFor(catalogue.findKeyed(modelId), providerKey));
        return;
      }
      const buyer = { accountId, providerKey: undefined };
      const own = await findOwnSources({ catalogue, providerKeys }, modelId, buyer);
      known.set(modelId, own?.sources ?? []);
    },
    async noteUse({ provider }) {
      if (providerKey === undefined) await providerKeys.noteUse(accountId, provider);
    },
  };
}

/**
 * Returns the only vendor that the handshake's key can belong to; undefined without a key or without such a vendor. Throws when
 * several vendors are possible.
 */
function requireOneHolder(
  { catalogue }: Deps,
  parts: readonly Model[],
  { providerKey }: ProviderKeyOwner,
): string | undefined {
  if (providerKey === undefined) return undefined;
  const keyed = parts.flatMap(({ id }) => catalogue.findKeyed(id) ?? []);
  const vendorOfModel = (model: Model) => vendorOf(catalogue, requireImplied(model).provider);
  const holders = new Set(keyed.map(vendorOfModel));
  if (holders.size < 2) return [...holders][0];
  const hosts = keyed.map((model) => `"${model.id}" by ${vendorOfModel(model)}`);
  throw gatewayErrors.invalidRequest(
    `The parts of this session are served by several providers (${hosts.join(', ')}), and a key in a header does not say whose it is; store it with PUT /v1/developer/provider-keys/{provider}.`,
    PROVIDER_KEY_HEADER,
  );
}
