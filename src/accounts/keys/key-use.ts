import type { Clock } from '../../kernel/clock.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Worker } from '../../kernel/schedule.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import { type KeyKind, saveKeyUses } from './key-use-store.ts';

export type KeyUse = ReturnType<typeof createKeyUse>;

/**
 * Remembers when keys were last used and writes it in batches, never per request. Beyond its bound a
 * use goes unrecorded until the next flush; a killed process loses a flush interval of uses.
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
      uses[kind] = new Map([...batch, ...uses[kind]].slice(0, LIMITS.keyUsesKept));
      throw error;
    }
  }

  return {
    touch(kind: KeyKind, keyId: number): void {
      const known = uses[kind];
      if (known.size < LIMITS.keyUsesKept || known.has(keyId)) known.set(keyId, deps.clock.now());
    },

    /** Writes what was touched since the last flush: every `LIMITS.keyUseFlushMs`, before a list, at shutdown. */
    async flush(): Promise<void> {
      await flushKind('agent');
      await flushKind('developer');
      await flushKind('provider');
    },
  };
}

/** When keys were last used is written in batches. */
export const flushKeyUse = (deps: { readonly keyUse: KeyUse }): Worker => ({
  name: 'flush-key-use',
  everyMs: LIMITS.keyUseFlushMs,
  tick: () => deps.keyUse.flush(),
});
