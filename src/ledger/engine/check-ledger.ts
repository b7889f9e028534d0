import type { Log } from '../../kernel/log.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import { checkInvariants, findLastAgentId, type Violation } from '../store/check-invariants.ts';
import { LEDGER_LIMITS } from './limits.ts';

/**
 * Checks the ledger at start-up, in the background and a bounded range of agents at a time. Logs an alarm for each violation;
 * repairs and delays nothing.
 */
export async function checkLedger(deps: {
  readonly sql: Sql;
  readonly log: Log;
  readonly signal?: AbortSignal;
}): Promise<readonly Violation[]> {
  const { sql, log, signal } = deps;
  const lastAgentId = await findLastAgentId(sql);
  const all: Violation[] = [];
  for (let from = 0; from <= lastAgentId; from += LEDGER_LIMITS.selfCheckAgents) {
    if (signal?.aborted) return all;
    const range = { fromAgentId: from, toAgentId: from + LEDGER_LIMITS.selfCheckAgents - 1 };
    for (const violation of await checkInvariants(sql, range)) {
      log.error({ ...violation }, 'the ledger does not add up');
      if (all.length < LEDGER_LIMITS.selfCheckAgents) all.push(violation);
    }
  }
  log.info({ agents: lastAgentId, violations: all.length }, 'the ledger was checked');
  return all;
}
