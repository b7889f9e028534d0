import type { EventRow } from '../ledger/rules/companion.ts';

type Origin = { readonly accountId: string; readonly actorWallet: string };

/** Stored provider key, shown by its masked start alone. */
type StoredKey = {
  readonly provider: string;
  readonly prefix: string;
  readonly label: string | null;
  readonly enabled: boolean;
};

/** Builds `provider_key.created`. From this event on, calls to the provider use the key. */
export const providerKeyCreated = (origin: Origin, key: StoredKey): EventRow =>
  providerKeyEvent('provider_key.created', origin, key);

/** Builds `provider_key.updated`, for a stored key that was replaced, enabled or disabled. */
export const providerKeyUpdated = (origin: Origin, key: StoredKey): EventRow =>
  providerKeyEvent('provider_key.updated', origin, key);

export const providerKeyDeleted = (origin: Origin, key: StoredKey): EventRow =>
  providerKeyEvent('provider_key.deleted', origin, key);

/** Builds an event of an account's provider key. It names no agent, so only webhooks with the scope `global` receive it. */
const providerKeyEvent = (name: string, origin: Origin, key: StoredKey): EventRow => ({
  name,
  accountId: origin.accountId,
  agentWallet: null,
  correlationId: null,
  payload: {
    provider: key.provider,
    keyPrefix: key.prefix,
    label: key.label,
    enabled: key.enabled,
    actorWallet: origin.actorWallet,
  },
});
