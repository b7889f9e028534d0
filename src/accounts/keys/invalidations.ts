import type { Log } from '../../kernel/log.ts';
import type { Worker } from '../../kernel/schedule.ts';
import type { Queryable, Sql } from '../../platform/postgres/sql.ts';
import { ACCOUNT_LIMITS } from '../limits.ts';
import {
  type Committed,
  commitChange,
  commitMemberChange,
  commitTeamChange,
} from './commit-change.ts';
import type { Invalidation, Notice } from './invalidation.ts';
import {
  findInvalidations,
  findSettledId,
  pruneInvalidations,
  type StoredInvalidation,
} from './invalidation-store.ts';

export type Invalidations = ReturnType<typeof createInvalidations>;

/**
 * Carries notices of changed facts to the caches of every process: written in the sql transaction of the change, delivered in
 * this process at once, and read by the others within a second. An id is assigned before its commit, so recent ids are read
 * again until no smaller id can appear; each notice is still delivered once.
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
     * Runs `work` as a change of facts that other processes cache. One sql transaction raises the version of the agent's rules,
     * which locks the row of its balance, runs `work` and writes the notice. The subscribers of this process are called right
     * after the commit, so that a revoked key fails with the next request. Work that returns undefined changed nothing.
     */
    async commit<T>(notice: Invalidation, work: (tx: Queryable) => Promise<T>): Promise<T> {
      return hearAll(await commitChange(deps.sql, notice, work));
    },

    /**
     * Runs `work` as `commit` does, for facts that all agents of an account share. The agents' rows are locked in the order of
     * their ids.
     */
    async commitTeam<T>(accountId: string, work: (tx: Queryable) => Promise<T>): Promise<T> {
      return hearAll(await commitTeamChange(deps.sql, accountId, work));
    },

    /**
     * Runs `work` as a change of an account's members. `work` returns the notices of the keys that it revoked; no key of the
     * account is issued while it runs.
     */
    async commitMember<T>(
      accountId: string,
      work: (
        tx: Queryable,
      ) => Promise<{ readonly done: T; readonly notices: readonly Invalidation[] }>,
    ): Promise<T> {
      return hearAll(await commitMemberChange(deps.sql, accountId, work));
    },

    /** Notifies the subscribers of this process only, about a change that was committed earlier. */
    notify,

    /** Adds a subscriber, which is called with every notice at least once. Returns the function that removes it. */
    subscribe,

    /** Reads the notices of other processes. After a failure the first success sends `everything`. */
    tick,
  };
}

/**
 * Creates the reader of notices. It passes each notice to the subscribers once, whether another process wrote it or this one.
 */
function createReader(sql: Sql, notify: (notice: Notice) => void) {
  /** Ids above the floor whose notices were passed to the subscribers already. */
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
    if (seen.size > ACCOUNT_LIMITS.invalidation.remembered) forgetOldest();
    return batch.length === ACCOUNT_LIMITS.invalidation.batch;
  }

  /**
   * Clears the set of ids when it is too large. A notice with a smaller id that is committed later would be missed, so all
   * caches are dropped.
   */
  function forgetOldest(): void {
    for (const id of seen) if (floor === undefined || id > floor) floor = id;
    seen.clear();
    notify({ kind: 'everything' });
  }

  /** Raises the floor, and removes an id from the set once no smaller id can appear, so that the set holds about a minute. */
  async function raiseFloor(): Promise<void> {
    const settled = await findSettledId(sql);
    if (floor === undefined || settled <= floor) return;
    floor = settled;
    for (const id of seen) if (id <= settled) seen.delete(id);
  }

  async function tick(): Promise<void> {
    try {
      let batches = 0;
      while ((await readBatch()) && ++batches < ACCOUNT_LIMITS.invalidation.batchesPerTick);
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

/** Creates the set of subscribers to every notice. A failing subscriber does not keep a notice from the others. */
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

/**
 * Creates the worker that reads the notices of other processes every `ACCOUNT_LIMITS.invalidation.pollMs` and drops stale cache entries.
 */
export const pollInvalidations = (deps: { readonly invalidations: Invalidations }): Worker => ({
  name: 'poll-invalidations',
  everyMs: ACCOUNT_LIMITS.invalidation.pollMs,
  tick: () => deps.invalidations.tick(),
});
