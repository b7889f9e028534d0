import { LIMITS } from '../kernel/limits.ts';
import type { Log } from '../kernel/log.ts';
import { bumpRules, bumpTeamRules } from '../store/ledger-store.ts';
import type { Queryable, Sql } from '../store/sql.ts';
import type { Invalidation, Notice } from './invalidation.ts';
import {
  findInvalidations,
  findSettledId,
  insertInvalidation,
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
  /** Ids above the floor that were told already. */
  const seen = new Set<bigint>();
  let floor: bigint | undefined;
  let missed = false;
  let ticks = 0;
  const hear = ({ id, notice }: StoredInvalidation): void => {
    seen.add(id);
    tell(notice);
  };

  async function readBatch(): Promise<boolean> {
    floor ??= await findSettledId(deps.sql);
    const batch = await findInvalidations(deps.sql, floor, [...seen]);
    batch.forEach(hear);
    if (seen.size > LIMITS.invalidationsRemembered) forgetOldest();
    return batch.length === LIMITS.invalidationBatch;
  }

  return {
    /**
     * The one way to change what others remember. In one sql transaction the agent's rules are raised, which
     * takes its balance's row, `work` makes the change and the notice is written; once that has committed this
     * process is told at once, so that a revoked key fails with the next request; the poll skips it. Work that
     * answers undefined changed nothing.
     */
    async commit<T>(notice: Invalidation, work: (tx: Queryable) => Promise<T>): Promise<T> {
      return commitAll(async (tx) => {
        if ('agentId' in notice) await bumpRules(tx, notice.agentId);
        return [notice];
      }, work);
    },

    /** As `commit`, for what all agents of an account share: their rows are taken in the order of their ids. */
    async commitTeam<T>(accountId: string, work: (tx: Queryable) => Promise<T>): Promise<T> {
      return commitAll(async (tx) => {
        const agentIds = await bumpTeamRules(tx, accountId);
        return agentIds.map((agentId) => ({ kind: 'agent_changed', agentId }) as const);
      }, work);
    },

    /** Tells this process alone, for a change that was committed before. */
    tell,

    /** Hears every notice at least once. Answers how to stop. */
    subscribe,

    /** Reads what other processes wrote. After a failure the first success tells `everything`. */
    async tick(): Promise<void> {
      try {
        let batches = 0;
        while ((await readBatch()) && ++batches < LIMITS.invalidationBatchesPerTick);
        if (missed) tell({ kind: 'everything' });
        missed = false;
        if (ticks++ % PRUNE_EVERY_TICKS === 0) {
          await pruneInvalidations(deps.sql);
          await raiseFloor();
        }
      } catch (error) {
        missed = true;
        throw error;
      }
    },
  };

  async function commitAll<T>(
    raise: (tx: Queryable) => Promise<readonly Invalidation[]>,
    work: (tx: Queryable) => Promise<T>,
  ): Promise<T> {
    const { done, told } = await commitWith(deps.sql, raise, work);
    told.forEach(hear);
    return done;
  }

  /** Beyond the bound a late commit may pass unnoticed, so nothing that is cached can be trusted. */
  function forgetOldest(): void {
    for (const id of seen) if (floor === undefined || id > floor) floor = id;
    seen.clear();
    tell({ kind: 'everything' });
  }

  /** Only what can have no smaller neighbour any more leaves the set, so the set stays as small as a minute. */
  async function raiseFloor(): Promise<void> {
    const settled = await findSettledId(deps.sql);
    if (floor === undefined || settled <= floor) return;
    floor = settled;
    for (const id of seen) if (id <= settled) seen.delete(id);
  }
}

/** What work answered, and the notices that were written where it changed anything. */
type Committed<T> = { readonly done: T; readonly told: readonly StoredInvalidation[] };

/** Undoes the sql transaction of work that changed nothing. */
class Unchanged extends Error {
  override readonly name = 'Unchanged';
}

/**
 * The rules are raised first: whoever changes an agent holds its balance's row before any other, as whoever moves its
 * money does, so that the two never wait for each other.
 */
async function commitWith<T>(
  sql: Sql,
  raise: (tx: Queryable) => Promise<readonly Invalidation[]>,
  work: (tx: Queryable) => Promise<T>,
): Promise<Committed<T>> {
  let done: T | undefined;
  try {
    const told = (await sql.begin(async (tx) => {
      const notices = await raise(tx);
      done = await work(tx);
      if (done === undefined) throw new Unchanged('nothing was changed');
      const written: StoredInvalidation[] = [];
      for (const notice of notices) {
        written.push({ id: await insertInvalidation(tx, notice), notice });
      }
      return written;
    })) as StoredInvalidation[];
    return { done: done as T, told };
  } catch (error) {
    if (error instanceof Unchanged) return { done: done as T, told: [] };
    throw error;
  }
}

/** Those who must hear of every notice; one that fails keeps it from nobody else. */
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
