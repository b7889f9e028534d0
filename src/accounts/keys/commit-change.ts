import { bumpRules, bumpTeamRules } from '../../ledger/store/agent-funds.ts';
import type { Queryable, Sql } from '../../platform/postgres/sql.ts';
import type { Invalidation } from './invalidation.ts';
import { insertInvalidations, type StoredInvalidation } from './invalidation-store.ts';

/** Result of the work, with the notices that were written; none when the work changed nothing. */
export type Committed<T> = { readonly done: T; readonly written: readonly StoredInvalidation[] };

/** Thrown to roll back the sql transaction of work that changed nothing. */
class Unchanged extends Error {
  override readonly name = 'Unchanged';
}

/** Runs a change of an agent's rules, and writes the notice by which every process drops its cached entries. */
export const commitChange = <T>(
  sql: Sql,
  notice: Invalidation,
  work: (tx: Queryable) => Promise<T>,
): Promise<Committed<T>> =>
  commitWith(
    sql,
    async (tx) => {
      if ('agentId' in notice) await bumpRules(tx, notice.agentId);
      return [notice];
    },
    work,
  );

/** Runs a change of rules that all agents of an account share, and writes a notice for each agent. */
export const commitTeamChange = <T>(
  sql: Sql,
  accountId: string,
  work: (tx: Queryable) => Promise<T>,
): Promise<Committed<T>> =>
  commitWith(
    sql,
    async (tx) => {
      const agentIds = await bumpTeamRules(tx, accountId);
      return agentIds.map(changed);
    },
    work,
  );

/**
 * Runs a change of an account's members, which may revoke keys. The rows of the account and of its agents' balances are locked
 * first, so that no key is issued meanwhile. Writes the notices that `work` returns, beside one for each agent.
 */
export async function commitMemberChange<T>(
  sql: Sql,
  accountId: string,
  work: (tx: Queryable) => Promise<{ readonly done: T; readonly notices: readonly Invalidation[] }>,
): Promise<Committed<T>> {
  return (await sql.begin(async (tx) => {
    const agentIds = await bumpTeamRules(tx, accountId);
    const { done, notices } = await work(tx);
    const written = await insertInvalidations(tx, [...agentIds.map(changed), ...notices]);
    return { done, written };
  })) as Committed<T>;
}

const changed = (agentId: number): Invalidation => ({ kind: 'agent_changed', agentId });

/**
 * Changes rules in one transaction. `raise` runs first: a change of an agent locks the balance's row before any other row, as a
 * movement of the agent's money does, so that the two never deadlock.
 */
async function commitWith<T>(
  sql: Sql,
  raise: (tx: Queryable) => Promise<readonly Invalidation[]>,
  work: (tx: Queryable) => Promise<T>,
): Promise<Committed<T>> {
  let done: T | undefined;
  try {
    const written = (await sql.begin(async (tx) => {
      const notices = await raise(tx);
      done = await work(tx);
      if (done === undefined) throw new Unchanged('nothing was changed');
      return insertInvalidations(tx, notices);
    })) as StoredInvalidation[];
    return { done: done as T, written };
  } catch (error) {
    if (error instanceof Unchanged) return { done: done as T, written: [] };
    throw error;
  }
}
