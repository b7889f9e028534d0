import type { Ledger } from '../ledger/ledger.ts';
import { readAt, type Standings, standingsOf } from '../ledger/standings.ts';
import { findBalance } from '../store/balance-store.ts';
import type { Sql } from '../store/sql.ts';
import { findAvailable } from './available-store.ts';
import { readTeamCounters } from './counter-store.ts';

/** How agents stand to their money and caps. */
export interface StandingsReader {
  /** As committed now; undefined where there is no such agent. */
  read(agentId: number): Promise<Standings | undefined>;
  /**
   * As this process knew it within the last second, without asking; undefined where it did not, or where others count
   * along. Enough to let something through that is decided again before money moves, and never to refuse it.
   */
  recall(agentId: number): Standings | undefined;
  /** What each of many agents may spend now. */
  available(agentIds: readonly number[]): Promise<ReadonlyMap<number, bigint>>;
}

/** Reads an agent's row and, where its team has caps, their counters: nothing is summed and no charge is read. */
export function createStandings(deps: {
  readonly sql: Sql;
  readonly ledger: Pick<Ledger, 'recall'>;
  /** The database's time, in Unix milliseconds. */
  readonly now: () => number;
  /** Asks again where a connection was lost: what was done before must not read as failed. */
  readonly patiently: <T>(call: () => Promise<T>) => Promise<T>;
}): StandingsReader {
  const { sql, ledger, now, patiently } = deps;

  async function read(agentId: number): Promise<Standings | undefined> {
    const snapshot = await findBalance(sql, agentId);
    if (snapshot === undefined) return undefined;
    const team = await readTeamCounters(
      sql,
      snapshot.rules.teamPolicies.map(({ id }) => id),
    );
    return standingsOf(readAt(snapshot, now(), team));
  }

  function recall(agentId: number): Standings | undefined {
    const snapshot = ledger.recall(agentId);
    if (snapshot === undefined) return undefined;
    const { teamPolicies, quality } = snapshot.rules;
    if (teamPolicies.length > 0 || quality.size > 0) return undefined;
    return standingsOf(readAt(snapshot, now()));
  }

  return {
    recall,
    read: (agentId) => patiently(() => read(agentId)),
    available: (agentIds) => patiently(() => findAvailable(sql, agentIds, now())),
  };
}
