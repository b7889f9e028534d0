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
 * Carries "forget this" to every process: written with the fact, told here at once, and read by the
 * other processes within a second. Ids are given out before they commit, so recent ids are read again
 * until none smaller can appear; a notice is told once all the same.
 */
export function createInvalidations(deps: { readonly sql: Sql; readonly log: Log }) {
  const { subscribe, tell } = createAudience(deps.log);
  const { hear, tick } = createReader(deps.sql, tell);

  function hearAll<T>({ done, told }: Committed<T>): T {
    told.forEach(hear);
    return done;
  }

  return {
    /**
     * The one way to change what others remember. In one sql transaction the agent's rules are raised, which
     * takes its balance's row, `work` makes the change and the notice is written; once that has committed this
     * process is told at once, so that a revoked key fails with the next request; the poll skips it. Work that
     * answers undefined changed nothing.
     */
    async commit<T>(notice: Invalidation, work: (tx: Queryable) => Promise<T>): Promise<T> {
      return hearAll(await commitChange(deps.sql, notice, work));
    },

    /** As `commit`, for what all agents of an account share: their rows are taken in the order of their ids. */
    async commitTeam<T>(accountId: string, work: (tx: Queryable) => Promise<T>): Promise<T> {
      return hearAll(await commitTeamChange(deps.sql, accountId, work));
    },

    /** Notifies this process alone, of a change that was committed before. */
    tell,

    /** Hears every notice at least once. Answers how to stop. */
    subscribe,

    /** Reads what other processes wrote. After a failure the first success sends `everything`. */
    tick,
  };
}

/** Reads notices, and hands each on once, whether it was read or sent in this process. */
function createReader(sql: Sql, tell: (notice: Notice) => void) {
  /** Ids above the floor that were handed on already. */
  const seen = new Set<bigint>();
  let floor: bigint | undefined;
  let missed = false;
  let ticks = 0;

  const hear = ({ id, notice }: StoredInvalidation): void => {
    seen.add(id);
    tell(notice);
  };

  async function readBatch(): Promise<boolean> {
    floor ??= await findSettledId(sql);
    const batch = await findInvalidations(sql, floor, [...seen]);
    batch.forEach(hear);
    if (seen.size > LIMITS.invalidationsRemembered) forgetOldest();
    return batch.length === LIMITS.invalidationBatch;
  }

  /** Beyond the bound a late commit may pass unnoticed, so nothing that is cached can be trusted. */
  function forgetOldest(): void {
    for (const id of seen) if (floor === undefined || id > floor) floor = id;
    seen.clear();
    tell({ kind: 'everything' });
  }

  /** Only what can have no smaller neighbour any more leaves the set, so the set stays as small as a minute. */
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
      if (missed) tell({ kind: 'everything' });
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

/** The listeners of every notice; one that fails does not keep it from the others. */
function createAudience(log: Log) {
  const subscribers = new Set<(notice: Notice) => void>();
  const tell = (notice: Notice): void => {
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
  return { subscribe, tell };
}

const PRUNE_EVERY_TICKS = 16;

/** What other processes revoked, suspended or closed is forgotten here, each second. */
export const pollInvalidations = (deps: { readonly invalidations: Invalidations }): Worker => ({
  name: 'poll-invalidations',
  everyMs: LIMITS.invalidationPollMs,
  tick: () => deps.invalidations.tick(),
});
