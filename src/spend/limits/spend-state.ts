import type { Ledger } from '../../ledger/rules/ledger.ts';
import { readAt, type SpendState, spendStateOf } from '../../ledger/rules/spend-state.ts';
import { findBalance } from '../../ledger/store/balances.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import { findAvailable } from '../awareness/available-store.ts';
import { readTeamCounters } from './counter-store.ts';

/** Reads the money and caps of agents. */
export interface SpendStateReader {
  /** As committed now; undefined where there is no such agent. */
  read(agentId: number): Promise<SpendState | undefined>;
  /**
   * As this process knew it within the last second, without asking; undefined where it did not, or where others count
   * along. Enough to let something through that is decided again before money moves, and never to refuse it.
   */
  recall(agentId: number): SpendState | undefined;
  /** Returns the amount that each of many agents may spend now. */
  available(agentIds: readonly number[]): Promise<ReadonlyMap<number, bigint>>;
}

/** Reads an agent's row and, where its team has caps, their counters: nothing is summed and no charge is read. */
export function createSpendStateReader(deps: {
  readonly sql: Sql;
  readonly ledger: Pick<Ledger, 'recall'>;
  /** The database's time, in Unix milliseconds. */
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
    available: (agentIds) => retrying(() => findAvailable(sql, agentIds, now())),
  };
}
