import type { Queryable } from '../../platform/postgres/sql.ts';
import type { OperatorPermission } from './delegation.ts';

/** Stores the permission of an agent, one row for each agent; a later grant replaces the earlier grant. */
export async function saveOperatorPermission(
  sql: Queryable,
  permission: OperatorPermission & { readonly operator: string; readonly txHash: string },
): Promise<void> {
  const { agentId, operator, wallet, maxRateBps, expiry, txHash } = permission;
  await sql`
    insert into operator_permissions
      (agent_id, operator, borrow_limit_raw, max_rate_bps, expiry, on_behalf_of, tx_hash, approved)
    values (${agentId}, ${operator}, ${permission.borrowLimitRaw.toString()}::bigint, ${maxRateBps},
      ${expiry}, ${wallet}, ${txHash}, true)
    on conflict (agent_id) do update set operator = excluded.operator,
      borrow_limit_raw = excluded.borrow_limit_raw, max_rate_bps = excluded.max_rate_bps,
      expiry = excluded.expiry, on_behalf_of = excluded.on_behalf_of, tx_hash = excluded.tx_hash,
      approved = true
  `;
}
