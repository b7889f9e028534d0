import type { Clock } from '../../kernel/clock.ts';
import { ACCOUNT_LIMITS } from '../limits.ts';

type Entry<T> = { readonly untilMs: number; found: T | Promise<T> };

/**
 * Caches the value of an account, even an empty value, for `ACCOUNT_LIMITS.providerKey.cacheMs`: other processes do not announce their
 * changes. Concurrent look-ups share one load; beyond the bound the oldest entry leaves.
 */
export function createRememberedKeys<T>(deps: {
  readonly clock: Clock;
  readonly load: (accountId: string) => Promise<T>;
}) {
  /** Cached keys by account, in the order in which they expire: no entry is ever prolonged. */
  const entries = new Map<string, Entry<T>>();

  function dropLapsed(): void {
    const now = deps.clock.monotonicMs();
    for (const [accountId, { untilMs }] of entries) {
      if (untilMs > now) return;
      entries.delete(accountId);
    }
  }

  function read(accountId: string): Promise<T> {
    const found = deps.load(accountId);
    const untilMs = deps.clock.monotonicMs() + ACCOUNT_LIMITS.providerKey.cacheMs;
    const entry: Entry<T> = { untilMs, found };
    entries.set(accountId, entry);
    const oldest = entries.keys().next().value;
    if (entries.size > ACCOUNT_LIMITS.providerKey.cached && oldest !== undefined)
      entries.delete(oldest);
    found.then(
      (value) => {
        entry.found = value;
      },
      // The next look-up loads again; the waiting look-ups get the failure themselves.
      () => {
        if (entries.get(accountId) === entry) entries.delete(accountId);
      },
    );
    return found;
  }

  return {
    /** Returns the keys of an account: from the cache at once, or as a promise when they must be loaded. */
    find(accountId: string): T | Promise<T> {
      dropLapsed();
      const known = entries.get(accountId);
      return known === undefined ? read(accountId) : known.found;
    },

    /** Drops the entry of an account. A read that is under way is not remembered either. */
    forget: (accountId: string): boolean => entries.delete(accountId),

    size: (): number => entries.size,
  };
}
