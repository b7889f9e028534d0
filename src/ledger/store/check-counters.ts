import type { Sql } from '../../platform/postgres/sql.ts';
import type { Counter } from '../../policy/counter.ts';
import { decodeCounters } from './counter-codec.ts';

export type CounterViolation = { readonly agentId: number | null; readonly detail: string };

type Row = { id: number; agent_id: number; counters: string | null; held: string };

/**
 * 5. The amount that counts as held under a living policy equals the sum of the matching open holds, and no settled amount is
 * negative. Checked for agents' own policies and for policies of their teams.
 */
export async function checkCounters(
  sql: Sql,
  from: number,
  to: number,
  most: number,
): Promise<CounterViolation[]> {
  const own = await sql<Row[]>`
    select p.id, p.agent_id, f.counters, coalesce((
        select sum(h.amount_raw) from holds h
        where h.agent_id = p.agent_id and policy_matches(p.kind, p.match_key, p.match_kind,
          h.key_root_id, h.task_id, h.host, h.payee)), 0)::text as held
    from policies p join agent_funds f on f.agent_id = p.agent_id
    where p.agent_id between ${from} and ${to} and p.revoked_at is null
      and extract(epoch from clock_timestamp()) < least(coalesce(p.expires_at, 9007199254740991),
                                                        coalesce(p.effective_until, 9007199254740991))`;
  const found = own.flatMap((row) => {
    const counter = decodeCounters(row.counters).find(({ policyId }) => policyId === row.id);
    const detail = ownDetail(counter, BigInt(row.held));
    return detail === undefined
      ? []
      : [{ agentId: row.agent_id, detail: `policy ${row.id}: ${detail}` }];
  });
  const team = await sql<{ detail: string }[]>`
    select format('team policy %s: counter %s, open holds %s', p.id, c.held_raw, coalesce(sum(h.amount_raw), 0))
      as detail
    from policies p
    left join team_counters c on c.policy_id = p.id
    join agent_funds f on f.account_id = p.account_id
    left join holds h on h.agent_id = f.agent_id and policy_matches(p.kind, p.match_key, p.match_kind,
      h.key_root_id, h.task_id, h.host, h.payee)
    where p.agent_id is null and p.revoked_at is null
      and exists (select 1 from agent_funds a where a.account_id = p.account_id
                  and a.agent_id between ${from} and ${to})
    group by p.id, c.held_raw, c.buckets
    having c.held_raw is distinct from coalesce(sum(h.amount_raw), 0) or 0 > any (c.buckets)
    limit ${most}`;
  return [...found, ...team.map(({ detail }) => ({ agentId: null, detail }))].slice(0, most);
}

/** Returns the violation of one counter; undefined when there is none. A missing counter reads as empty. */
function ownDetail(counter: Counter | undefined, openRaw: bigint): string | undefined {
  const heldRaw = counter?.heldRaw ?? 0n;
  if (heldRaw !== openRaw) return `counter ${heldRaw}, open holds ${openRaw}`;
  return counter?.buckets.some((raw) => raw < 0n) ? 'a bucket is negative' : undefined;
}
