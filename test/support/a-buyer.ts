import type { Spender } from '../../src/ledger/rules/requests.ts';
import type { Buyer } from '../../src/models/purchase/buyer.ts';
import type { StoredKeys } from '../../src/models/routing/keyed-sources.ts';

/** A buyer without its own key or Idempotency-Key, which stays to the end and is within every rate limit. */
export const aBuyer = (spender: Spender, more: Partial<Buyer> = {}): Buyer => ({
  spender,
  accountId: 'acct_000000000001',
  providerKey: undefined,
  workId: undefined,
  signal: new AbortController().signal,
  admitPooled: () => undefined,
  promptCaching: 'off',
  span: undefined,
  ...more,
});

/** No account has stored a key. */
export const noStoredKeys: StoredKeys = { find: async () => undefined, noteUse: async () => {} };
