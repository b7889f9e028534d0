import type { Clock } from '../../kernel/clock.ts';
import { RecentMap } from '../../kernel/recent-map.ts';
import type { Worker } from '../../kernel/schedule.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import { ACCOUNT_LIMITS } from '../limits.ts';
import { saveAiToolTimes } from './developer-store.ts';

const LIMITS = ACCOUNT_LIMITS.aiTool;

export type AiTools = ReturnType<typeof createAiTools>;

/**
 * Notes when a tool for AI clients first acts for an account. Times are kept in memory and written in batches, so that no request
 * waits; a killed process loses those since its last flush, and the next request of such a tool is noted in their place.
 */
export function createAiTools(deps: { readonly sql: Sql; readonly clock: Clock }) {
  /** Accounts whose time this process has noted. */
  const noted = new RecentMap<string, true>(LIMITS.remembered);
  let unwritten = new Map<string, number>();

  return {
    see(accountId: string): void {
      if (noted.get(accountId) !== undefined || unwritten.size >= LIMITS.unwritten) return;
      noted.set(accountId, true);
      unwritten.set(accountId, deps.clock.now());
    },

    /** Writes the times noted since the last flush. Called every `flushMs`, before a profile, and at shutdown. */
    async flush(): Promise<void> {
      if (unwritten.size === 0) return;
      const batch = unwritten;
      unwritten = new Map();
      try {
        await saveAiToolTimes(deps.sql, batch);
      } catch (error) {
        for (const accountId of batch.keys()) noted.delete(accountId);
        throw error;
      }
    },
  };
}

/** Creates the worker that writes when AI tools first acted for accounts. */
export const flushAiTools = (deps: { readonly aiTools: AiTools }): Worker => ({
  name: 'flush-ai-tools',
  everyMs: LIMITS.flushMs,
  tick: () => deps.aiTools.flush(),
});
