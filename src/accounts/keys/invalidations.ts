import { LIMITS } from '../../kernel/limits.ts';
import type { Log } from '../../kernel/log.ts';
import type { Worker } from '../../kernel/schedule.ts';
import type { Queryable, Sql } from '../../platform/postgres/sql.ts';
import { type Committed, commitChange, commitTeamChange } from './commit-change.ts';
import type { Invalidation, Notice } from './invalidation.ts';
import {
  findInvalidations,
  findSettledId,
  pruneInvalidations,
  type StoredInvalidation,
} from './invalidation-store.ts';

export type Invalidations = ReturnType<typeof createInvalidations>;

/**
 * Carries notices that a cached fact has changed to every process: written in the sql transaction of the
 * change, delivered in this process at once, and read by the others within a second. An id is assigned
 * before it commits, so recent ids are read again until no smaller one can appear; each notice is still
 * delivered once.
 */
export function createInvalidations(deps: { readonly sql: Sql; readonly log: Log }) {
  const { subscribe, notify } = createAudience(deps.log);
  const { hear, tick } = createReader(deps.sql, notify);

  function hearAll<T>({ done, written }: Committed<T>): T {
    written.forEach(hear);
    return done;
  }

  return {
    /**
     * The one way to change what others cache. One sql transaction raises the version of the agent's rules,
     * which locks the row of its balance, runs `work` and writes the notice. Once that has committed, the
     * subscribers of this process are called at once, so that a revoked key fails with the next request. Work
     * that returns undefined changed nothing.
     */
    async commit<T>(notice: Invalidation, work: (tx: Queryable) => Promise<T>): Promise<T> {
      return hearAll(await commitChange(deps.sql, notice, work));
    },

    /** As `commit`, for what all agents of an account share: their rows are taken in the order of their ids. */
    async commitTeam<T>(accountId: string, work: (tx: Queryable) => Promise<T>): Promise<T> {
      return hearAll(await commitTeamChange(deps.sql, accountId, work));
    },

    /** Notifies this process alone, of a change that was committed before. */
    notify,

    /** Calls the subscriber with every notice at least once. Returns how to unsubscribe. */
    subscribe,

    /** Reads what other processes wrote. After a failure the first success sends `everything`. */
    tick,
  };
}

/** Reads notices, and passes each on once, whether it was read or written in this process. */
function createReader(sql: Sql, notify: (notice: Notice) => void) {
  /** Ids above the floor that were passed on already. */
  const seen = new Set<bigint>();
  let floor: bigint | undefined;
  let missed = false;
  let ticks = 0;

  const hear = ({ id, notice }: StoredInvalidation): void => {
    seen.add(id);
    notify(notice);
  };

  async function readBatch(): Promise<boolean> {
    floor ??= await findSettledId(sql);
    const batch = await findInvalidations(sql, floor, [...seen]);
    batch.forEach(hear);
    if (seen.size > LIMITS.invalidationsRemembered) forgetOldest();
    return batch.length === LIMITS.invalidationBatch;
  }

  /** Beyond the bound a late commit may be missed, so that all caches are dropped. */
  function forgetOldest(): void {
    for (const id of seen) if (floor === undefined || id > floor) floor = id;
    seen.clear();
    notify({ kind: 'everything' });
  }

  /** An id leaves the set once no smaller one can appear, so that the set holds about a minute. */
  async function raiseFloor(): Promise<void> {
    const settled = await findSettledId(sql);
    if (floor === undefined || settled <= floor) return;
    floor = settled;
    for (const id of seen) if (id <= settled) seen.delete(id);
  }

  async function tick(): Promise<void> {
    try {
      let batches = 0;
      while ((await readBatch()) && ++batches < LIMITS.invalidationBatchesPerTick);
      if (missed) notify({ kind: 'everything' });
      missed = false;
      if (ticks++ % PRUNE_EVERY_TICKS === 0) {
        await pruneInvalidations(sql);
        await raiseFloor();
      }
    } catch (error) {
      missed = true;
      throw error;
    }
  }

  return { hear, tick };
}

/** The subscribers to every notice; one that fails does not keep it from the others. */
function createAudience(log: Log) {
  const subscribers = new Set<(notice: Notice) => void>();
  const notify = (notice: Notice): void => {
    for (const subscriber of subscribers) {
      try {
        subscriber(notice);
      } catch (error) {
        log.error({ err: error, notice }, 'a subscriber failed to forget');
      }
    }
  };
  const subscribe = (subscriber: (notice: Notice) => void): (() => void) => {
    subscribers.add(subscriber);
    return () => subscribers.delete(subscriber);
  };
  return { subscribe, notify };
}

const PRUNE_EVERY_TICKS = 16;

/** Each second this process drops from its caches what others revoked, suspended or closed. */
export const pollInvalidations = (deps: { readonly invalidations: Invalidations }): Worker => ({
  name: 'poll-invalidations',
  everyMs: LIMITS.invalidationPollMs,
  tick: () => deps.invalidations.tick(),
});
