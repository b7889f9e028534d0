import { reservedRaw } from '../../ledger/rules/admit.ts';
import { alignCounters, windowPositionAt } from '../../ledger/rules/window-position.ts';
import { decodeCounters } from '../../ledger/store/counter-codec.ts';
import { type PolicyJson, policyOf } from '../../ledger/store/policy-row.ts';
import type { Queryable } from '../../platform/postgres/sql.ts';

type Row = {
  agent_id: number;
  spendable: bigint;
  counters: string | null;
  /** Policies that keep money for tasks. Null when no money is kept. */
  policies: PolicyJson[] | null;
};

/** Returns the amount that each of many agents may spend now: its balance minus the money kept for tasks. */
export async function findAvailable(
  sql: Queryable,
  agentIds: readonly number[],
  nowMs: number,
): Promise<ReadonlyMap<number, bigint>> {
  const rows = await sql<Row[]>`
    select f.agent_id, f.spendable_raw as spendable, f.counters, own.policies
    from agent_funds f
    left join lateral living_policies(f.agent_id, f.account_id) as own on exists (
      select 1 from policies p
      where p.agent_id = f.agent_id and p.reserves and p.revoked_at is null)
    where f.agent_id = any (${agentIds.map(String)}::integer[])`;
  return new Map(rows.map((row) => [row.agent_id, availableOf(row, nowMs)]));
}

function availableOf({ spendable, counters, policies }: Row, nowMs: number): bigint {
  if (policies === null) return spendable;
  const own = policies.map(policyOf).filter(({ agentId }) => agentId !== null);
  const rules = { policies: own, teamPolicies: [] };
  const position = windowPositionAt(rules, nowMs);
  const aligned = alignCounters(rules, decodeCounters(counters), position);
  const kept = reservedRaw(rules, aligned, position, null);
  return spendable > kept ? spendable - kept : 0n;
}
