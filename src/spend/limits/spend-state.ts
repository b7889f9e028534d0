import type { Ledger } from '../../ledger/rules/ledger.ts';
import { readAt, type SpendState, spendStateOf } from '../../ledger/rules/spend-state.ts';
import { findBalance, findBalances } from '../../ledger/store/balances.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import { findAvailable } from '../awareness/available-store.ts';
import { readTeamCounters } from './counter-store.ts';

/** Reads the money and caps of agents. */
export interface SpendStateReader {
  /** Reads the committed state from the database. Undefined when the agent does not exist. */
  read(agentId: number): Promise<SpendState | undefined>;
  /**
   * Returns the state that this process knew within the last second, without a database call. Undefined when it knew none,
   * when the agent's team has caps, or when the quality of outcomes moves a cap. Good enough to admit a request that is
   * decided again before money moves, but not to refuse one.
   */
  recall(agentId: number): SpendState | undefined;
  /** Reads the committed states of several agents in two calls of the database. Agents that do not exist are absent. */
  readMany(agentIds: readonly number[]): Promise<ReadonlyMap<number, SpendState>>;
  /** Returns the amount that each of many agents may spend now. */
  available(agentIds: readonly number[]): Promise<ReadonlyMap<number, bigint>>;
}

/** Creates a reader of agents' rows and, when the team has caps, of their counters. It sums nothing and reads no charges. */
export function createSpendStateReader(deps: {
  readonly sql: Sql;
  readonly ledger: Pick<Ledger, 'recall'>;
  /** Returns the database's time in Unix milliseconds. */
  readonly now: () => number;
  /** Repeats a call after a lost connection: work that was done must not be reported as failed. */
  readonly retrying: <T>(call: () => Promise<T>) => Promise<T>;
}): SpendStateReader {
  const { sql, ledger, now, retrying } = deps;

  async function read(agentId: number): Promise<SpendState | undefined> {
    const snapshot = await findBalance(sql, agentId);
    if (snapshot === undefined) return undefined;
    const team = await readTeamCounters(
      sql,
      snapshot.rules.teamPolicies.map(({ id }) => id),
    );
    return spendStateOf(readAt(snapshot, now(), team));
  }

  async function readMany(agentIds: readonly number[]): Promise<ReadonlyMap<number, SpendState>> {
    const snapshots = await findBalances(sql, agentIds);
    const policyIds = [...snapshots.values()].flatMap(({ rules }) =>
      rules.teamPolicies.map(({ id }) => id),
    );
    const team = await readTeamCounters(sql, [...new Set(policyIds)]);
    return new Map(
      [...snapshots].map(([id, snapshot]) => [id, spendStateOf(readAt(snapshot, now(), team))]),
    );
  }

  function recall(agentId: number): SpendState | undefined {
    const snapshot = ledger.recall(agentId);
    if (snapshot === undefined) return undefined;
    const { teamPolicies, quality } = snapshot.rules;
    if (teamPolicies.length > 0 || quality.size > 0) return undefined;
    return spendStateOf(readAt(snapshot, now()));
  }

  return {
    recall,
    read: (agentId) => retrying(() => read(agentId)),
    readMany: (agentIds) => retrying(() => readMany(agentIds)),
    available: (agentIds) => retrying(() => findAvailable(sql, agentIds, now())),
  };
}
