import type { CallerFacts } from '../../engines/engine.ts';
import { assert } from '../../kernel/assert.ts';
import type { Queryable } from '../../platform/postgres/sql.ts';

/** Returns the facts that an agent may learn about itself, as committed now. */
export async function readCallerFacts(sql: Queryable, agentId: number): Promise<CallerFacts> {
  const [row] = await sql<CallerFacts[]>`
    select agents.name as "agentName",
           agent_funds.spendable_raw as "spendableRaw",
           agent_funds.held_raw as "heldRaw",
           agent_funds.consumed_raw as "spentRaw"
    from agents join agent_funds on agent_funds.agent_id = agents.id
    where agents.id = ${agentId}`;
  assert(row !== undefined, 'a caller that was authenticated has a row');
  return row;
}
