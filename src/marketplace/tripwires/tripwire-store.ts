import type { Queryable } from '../../platform/postgres/sql.ts';
import { MARKETPLACE_LIMITS } from '../limits.ts';

/**
 * Claims the report of a vendor's deviation to an agent. Returns true for one claim in `MARKETPLACE_LIMITS.tripwire.everyMs`,
 * over all processes.
 */
export async function claimTripwire(
  sql: Queryable,
  {
    agentId,
    tripwire,
    vendor,
  }: { readonly agentId: number; readonly vendor: string; readonly tripwire: string },
): Promise<boolean> {
  const rows = await sql`
    insert into marketplace_tripwires as t (agent_id, vendor, tripwire)
    values (${agentId}, ${vendor}, ${tripwire})
    on conflict (agent_id, vendor, tripwire) do update set triggered_at = now()
    where t.triggered_at <= now() - ${MARKETPLACE_LIMITS.tripwire.everyMs} * interval '1 millisecond'
    returning 1 as one`;
  return rows.length === 1;
}
