import { PROVIDER_KEY_HEADER } from '../../accounts/provider-keys/provider-key-header.ts';
import { errors } from '../../kernel/errors.ts';
import { impliedSource, vendorOf } from '../../models/catalogue/byok-source.ts';
import type { Catalogue, Model, Source } from '../../models/catalogue/catalogue.ts';
import {
  findOwnSellers,
  requireImplied,
  type Seller,
  type StoredKeys,
} from '../../models/routing/sellers.ts';
import type { RelayBuyer } from '../relay/connect-relay.ts';

/** What opens the accounts of a session's caller at providers. */
export interface OwnKeys {
  /** Who serves a model for them, as was known when they were last looked up. */
  sellersOf(modelId: string): readonly Seller[];
  /** A developer may change what is stored while a session lasts. */
  lookUp(modelId: string): Promise<void>;
  /** A call goes out with one. */
  noteUse(source: Source): Promise<void>;
}

type Deps = {
  readonly catalogue: Pick<Catalogue, 'find' | 'findKeyed' | 'provider' | 'suggest'>;
  readonly providerKeys: StoredKeys;
};

export type KeyOwner = Pick<RelayBuyer, 'accountId' | 'providerKey'>;

/**
 * The keys that the parts of a session may be bought with: the one that came with its handshake, or all that are stored.
 * Throws the refusal of a part that neither they nor the pool can buy, and of a key whose provider cannot be told.
 */
export async function openOwnKeys(
  deps: Deps,
  parts: readonly Model[],
  owner: KeyOwner,
): Promise<OwnKeys> {
  const keys = createOwnKeys(deps, owner, requireOneHolder(deps, parts, owner));
  await Promise.all(parts.map(({ id }) => keys.lookUp(id)));
  for (const { id } of parts) {
    if (deps.catalogue.find(id) === undefined && keys.sellersOf(id).length === 0) {
      throw errors.gateway.modelNotFound(id, deps.catalogue.suggest(id));
    }
  }
  return keys;
}

function createOwnKeys(
  { catalogue, providerKeys }: Deps,
  { accountId, providerKey }: KeyOwner,
  holder: string | undefined,
): OwnKeys {
  const known = new Map<string, readonly Seller[]>();

  /** A key goes only to the provider that it was taken for when the session was opened. */
  function broughtFor(model: Model | undefined, ownKey: string): readonly Seller[] {
    const source = model && impliedSource(model);
    const isHolder = source !== undefined && vendorOf(catalogue, source.provider) === holder;
    return isHolder ? [{ source, ownKey }] : [];
  }

  return {
    sellersOf: (modelId) => known.get(modelId) ?? [],
    async lookUp(modelId) {
      if (providerKey !== undefined) {
        known.set(modelId, broughtFor(catalogue.findKeyed(modelId), providerKey));
        return;
      }
      const buyer = { accountId, providerKey: undefined };
      const own = await findOwnSellers({ catalogue, providerKeys }, modelId, buyer);
      known.set(modelId, own?.sellers ?? []);
    },
    async noteUse({ provider }) {
      if (providerKey === undefined) await providerKeys.noteUse(accountId, provider);
    },
  };
}

/** The one vendor that a brought key can be meant for. Undefined: there is none of either. */
function requireOneHolder(
  { catalogue }: Deps,
  parts: readonly Model[],
  { providerKey }: KeyOwner,
): string | undefined {
  if (providerKey === undefined) return undefined;
  const keyed = parts.flatMap(({ id }) => catalogue.findKeyed(id) ?? []);
  const vendorOfModel = (model: Model) => vendorOf(catalogue, requireImplied(model).provider);
  const holders = new Set(keyed.map(vendorOfModel));
  if (holders.size < 2) return [...holders][0];
  const hosts = keyed.map((model) => `"${model.id}" by ${vendorOfModel(model)}`);
  throw errors.gateway.invalidRequest(
    `The parts of this session are served by several providers (${hosts.join(', ')}), and a key in a header does not say whose it is; store it with PUT /v1/developer/provider-keys/{provider}.`,
    PROVIDER_KEY_HEADER,
  );
}
