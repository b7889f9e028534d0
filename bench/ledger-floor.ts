import type { Sql } from '../src/platform/postgres/sql.ts';
import type { Spendable } from '../test/support/ledger-load.ts';

/**
 * The floor: one SQL statement an operation that makes the same checks and writes the same rows as the
 * ledger does, so that only the way there differs. `capped`: its counters as well, in one row an agent.
 */
export function createFloor(sql: Sql, capped = false) {
  const counted = (agent: Spendable, by: string) =>
    capped
      ? sql`update floor_counters c
          set held = array(select h + ${by}::bigint from unnest(c.held) as u(h))
          where c.agent_id = ${agent.agentId}
            and not exists (select 1 from unnest(c.held, c.caps) as u(h, cap)
              where h + ${by}::bigint > cap)
          returning c.agent_id`
      : sql`select ${agent.agentId}::integer as agent_id`;

  const hold = (agent: Spendable, holdId: string, amountRaw: string) => sql`
    with counted as (${counted(agent, amountRaw)}), agent as (
      update agent_funds f
      set version = f.version + 1, spendable_raw = f.spendable_raw - ${amountRaw}::bigint,
        held_raw = f.held_raw + ${amountRaw}::bigint
      from counted c
      where f.agent_id = c.agent_id and f.spendable_raw >= ${amountRaw}::bigint
        and exists (select 1 from agents a where a.id = f.agent_id and a.status = 'active'
          and (a.operator_expiry is null or a.operator_expiry > extract(epoch from now())))
        and exists (select 1 from agent_keys k where k.id = ${agent.keyId}
          and k.agent_id = f.agent_id and k.revoked_at is null)
      returning f.agent_id, f.spendable_raw, f.held_raw
    ), posting as (
      insert into postings (id, agent_id, code, asked_raw, debits, credits, amounts)
      select 'hold:' || ${holdId}, a.agent_id, 'hold.open', ${amountRaw}::bigint,
        array['agent:' || a.agent_id || ':spendable'], array['agent:' || a.agent_id || ':held'],
        array[${amountRaw}::bigint]
      from agent a
    ), opened as (
      insert into holds (id, agent_id, amount_raw, kind, node_id, lease_epoch)
      select ${holdId}, a.agent_id, ${amountRaw}::bigint, 'request', 'floor', 1 from agent a
    )
    select * from agent`;

  const release = (agent: Spendable, holdId: string) => sql`
    with closed as (
      delete from holds where id = ${holdId} and agent_id = ${agent.agentId} returning amount_raw
    ), counted as (${counted(agent, '-10')}
    ), agent as (
      update agent_funds f
      set version = f.version + 1, spendable_raw = f.spendable_raw + c.amount_raw,
        held_raw = f.held_raw - c.amount_raw
      from closed c, counted o where f.agent_id = o.agent_id
      returning f.agent_id, f.spendable_raw, f.held_raw, c.amount_raw
    ), posting as (
      insert into postings (id, agent_id, code, asked_raw, debits, credits, amounts)
      select 'resolve:' || ${holdId}, a.agent_id, 'hold.release', 0,
        array['agent:' || a.agent_id || ':held'], array['agent:' || a.agent_id || ':spendable'],
        array[a.amount_raw]
      from agent a
    )
    select * from agent`;

  return { hold, release };
}

/** Callers that hold and release, one statement each, for a while. */
export async function loadFloor(
  { hold, release }: ReturnType<typeof createFloor>,
  agents: readonly Spendable[],
  options: { readonly callers: number; readonly forMs: number; readonly prefix: string },
): Promise<{ readonly operations: number; readonly seconds: number; readonly cpuMicros: number }> {
  const cpu = process.cpuUsage();
  const start = performance.now();
  let operations = 0;
  const caller = async (c: number) => {
    for (let i = 0; performance.now() - start < options.forMs; i++) {
      const agent = agents[(c * 7 + i) % agents.length];
      if (agent === undefined) throw new Error('no agents');
      const holdId = `${options.prefix}-${agent.agentId}-${c}-${i}`;
      const rows = [...(await hold(agent, holdId, '10')), ...(await release(agent, holdId))];
      if (rows.length !== 2) throw new Error('the floor refused');
      operations += 2;
    }
  };
  await Promise.all(Array.from({ length: options.callers }, (_, c) => caller(c)));
  const used = process.cpuUsage(cpu);
  const seconds = (performance.now() - start) / 1_000;
  return { operations, seconds, cpuMicros: (used.user + used.system) / Math.max(1, operations) };
}
