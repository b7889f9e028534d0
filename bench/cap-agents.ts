import { createInvalidations } from '../src/accounts/keys/invalidations.ts';
import { silentLog } from '../src/kernel/log.ts';
import type { Sql } from '../src/platform/postgres/sql.ts';
import { LOAD_TASK, type Spendable } from '../test/support/ledger-load.ts';

/** Seven that count every operation of a load, and three that it must look at all the same. */
const CAPS = [
  ['session', null, null, 'session'],
  ['key', '', null, 'rolling'],
  ['task', LOAD_TASK, null, 'rolling'],
  ['api', 'api.acme.example', 'host_exact', 'rolling'],
  ['api', '.acme.example', 'host_suffix', 'rolling'],
  ['api', '.example', 'host_suffix', 'calendar'],
  ['api', 'api.acme.example', 'host_suffix', 'once'],
  ['task', 'other', null, 'rolling'],
  ['api', 'other.example', 'host_suffix', 'rolling'],
  ['vendor', `0x${'1'.repeat(40)}`, 'recipient', 'rolling'],
] as const;

const CAP_RAW = '1000000000000';

/** Ten policies for each agent, out of reach; and for the floor a row of counters that does as much. */
export async function capAgents(sql: Sql, agents: readonly Spendable[]): Promise<void> {
  const invalidations = createInvalidations({ sql, log: silentLog });
  await sql`create table if not exists floor_counters (
    agent_id integer primary key, held bigint[] not null, caps bigint[] not null)`;
  for (const { agentId, keyId } of agents) {
    await sql`insert into floor_counters values (${agentId}, array_fill(0::bigint, array[7]),
      array_fill(${CAP_RAW}::bigint, array[7]))`;
    await invalidations.commit({ kind: 'agent_changed', agentId }, async (tx) => {
      for (const [kind, matchKey, matchKind, windowKind] of CAPS) {
        await tx`
          insert into policies (account_id, agent_id, kind, match_key, match_kind, limit_raw, window_kind,
            window_seconds, calendar_unit, starts_at)
          select account_id, id, ${kind}, ${kind === 'key' ? String(keyId) : matchKey}, ${matchKind},
            ${CAP_RAW}::bigint, ${windowKind}, ${windowKind === 'rolling' ? 86_400 : null},
            ${windowKind === 'calendar' ? 'day' : null}, to_timestamp(0)
          from agents where id = ${agentId}`;
      }
      return true;
    });
  }
}
