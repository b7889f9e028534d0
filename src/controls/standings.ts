import { readAt, type Standings, standingsOf } from '../ledger/standings.ts';
import { findBalance } from '../store/balance-store.ts';
import type { Sql } from '../store/sql.ts';
import { findAvailable } from './available-store.ts';
import { readTeamCounters } from './counter-store.ts';

/** How agents stand to their money and caps. */
export interface StandingsReader {
  /** As committed now; undefined where there is no such agent. */
  read(agentId: number): Promise<Standings | undefined>;
  /** What each of many agents may spend now. */
  available(agentIds: readonly number[]): Promise<ReadonlyMap<number, bigint>>;
}

/** Reads an agent's row and, where its team has caps, their counters: nothing is summed and no charge is read. */
export function createStandings(deps: {
  readonly sql: Sql;
  /** The database's time, in Unix milliseconds. */
  readonly now: () => number;
  /** Asks again where a connection was lost: what was done before must not read as failed. */
  readonly patiently: <T>(call: () => Promise<T>) => Promise<T>;
}): StandingsReader {
  const { sql, now, patiently } = deps;

  async function read(agentId: number): Promise<Standings | undefined> {
    const snapshot = await findBalance(sql, agentId);
    if (snapshot === undefined) return undefined;
    const team = await readTeamCounters(
      sql,
      snapshot.rules.teamPolicies.map(({ id }) => id),
    );
    return standingsOf(readAt(snapshot, now(), team));
  }

  return {
    read: (agentId) => patiently(() => read(agentId)),
    available: (agentIds) => patiently(() => findAvailable(sql, agentIds, now())),
  };
}
