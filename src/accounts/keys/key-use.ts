import type { Clock } from '../../kernel/clock.ts';
import type { Worker } from '../../kernel/schedule.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import { ACCOUNT_LIMITS } from '../limits.ts';
import { type KeyKind, saveKeyUses } from './key-use-store.ts';

export type KeyUse = ReturnType<typeof createKeyUse>;

/**
 * Collects the times at which keys were last used, and writes them in batches. Beyond `ACCOUNT_LIMITS.key.usesKept` keys a use is not
 * recorded until the next flush; a killed process loses the uses since its last flush.
 */
export function createKeyUse(deps: { readonly sql: Sql; readonly clock: Clock }) {
  const uses: Record<KeyKind, Map<number, number>> = {
    agent: new Map(),
    developer: new Map(),
    provider: new Map(),
  };

  async function flushKind(kind: KeyKind): Promise<void> {
    if (uses[kind].size === 0) return;
    const batch = uses[kind];
    uses[kind] = new Map();
    try {
      await saveKeyUses(deps.sql, kind, batch);
    } catch (error) {
      // The next flush writes these uses, unless a newer use of the same key replaces them.
      uses[kind] = new Map([...batch, ...uses[kind]].slice(0, ACCOUNT_LIMITS.key.usesKept));
      throw error;
    }
  }

  return {
    touch(kind: KeyKind, keyId: number): void {
      const known = uses[kind];
      if (known.size < ACCOUNT_LIMITS.key.usesKept || known.has(keyId))
        known.set(keyId, deps.clock.now());
    },

    /** Writes the uses since the last flush. Called every `ACCOUNT_LIMITS.key.useFlushMs`, before a list of keys, and at shutdown. */
    async flush(): Promise<void> {
      await flushKind('agent');
      await flushKind('developer');
      await flushKind('provider');
    },
  };
}

/** Creates the worker that writes the times at which keys were last used. */
export const flushKeyUse = (deps: { readonly keyUse: KeyUse }): Worker => ({
  name: 'flush-key-use',
  everyMs: ACCOUNT_LIMITS.key.useFlushMs,
  tick: () => deps.keyUse.flush(),
});
