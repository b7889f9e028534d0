import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createInvalidations } from '../../../src/accounts/keys/invalidations.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import type { Sql } from '../../../src/platform/postgres/sql.ts';
import { SPEND_LIMITS } from '../../../src/spend/limits.ts';
import { findPastPolicies } from '../../../src/spend/policies/policy-store.ts';
import { addPolicy as writePolicy } from '../../../src/spend/policies/write-policy.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { seedAgents } from '../../support/ledger-world.ts';
import { policyOf } from '../../support/spending.ts';

let database: TestDatabase;
let sql: Sql;
beforeAll(async () => {
  database = await testDatabase();
  sql = database.sql;
});
afterAll(() => database[Symbol.asyncDispose]());

async function accountOf(agentId: number): Promise<string> {
  const [row] = await sql<{ account_id: string }[]>`
    select account_id from agents where id = ${agentId}`;
  return row?.account_id ?? '';
}

describe('a change of what a team shares', () => {
  it('a team policy change updates and notifies all agents of the team except closed agents without holds', async () => {
    const agents = await seedAgents(sql, 4);
    const [open, closed, settling] = agents.map(({ agentId }) => agentId);
    const accountId = await accountOf(open ?? 0);
    await sql`update agents set status = 'closed' where id in (${closed ?? 0}, ${settling ?? 0})`;
    await sql`update agent_funds set held_raw = 5, credited_raw = 5 where agent_id = ${settling ?? 0}`;
    const told: number[] = [];
    const invalidations = createInvalidations({ sql, log: silentLog });
    invalidations.subscribe((notice) => 'agentId' in notice && told.push(notice.agentId));
    await invalidations.commitTeam(accountId, async () => true);
    const rows = await sql<{ agent_id: number; rules_version: bigint }[]>`
      select agent_id, rules_version from agent_funds where account_id = ${accountId} order by 1`;
    expect(rows.map((row) => row.rules_version)).toEqual([1n, 0n, 1n, 1n]);
    expect(told).toEqual(agents.map(({ agentId }) => agentId).filter((id) => id !== closed));
    const written = await sql<{ agent_id: number }[]>`
      select agent_id from invalidations where agent_id = any (${agents.map((a) => String(a.agentId))}::integer[])`;
    expect(written.map((row) => row.agent_id)).toEqual(told);
  });
});

describe('policies that end by themselves', () => {
  it('expired policies are kept for revival, up to a maximum per agent or team', async () => {
    const [agent] = await seedAgents(sql, 1);
    const agentId = agent?.agentId ?? 0;
    const owner = { accountId: await accountOf(agentId), agentId };
    const nowMs = Date.now();
    const nowSec = Math.floor(nowMs / 1_000);
    await sql`
      insert into policies (account_id, agent_id, kind, match_key, limit_raw, window_kind, starts_at, expires_at)
      select ${owner.accountId}, ${agentId}, 'task', 'over ' || i, 1, 'once', now(), ${nowSec - 10}
      from generate_series(1, ${SPEND_LIMITS.policy.pastListed + 30}) as g(i)`;
    const { id: _, agentId: __, ...wanted } = policyOf({ kind: 'task', matchKey: 'new' });
    await writePolicy({ tx: sql, nowMs, nowSec }, owner, wanted);
    const [row] = await sql<{ left: number }[]>`
      select count(*)::integer as left from policies
      where agent_id = ${agentId} and revoked_at is null and expires_at is not null`;
    expect(row?.left).toBe(SPEND_LIMITS.policy.pastListed);
    const past = await findPastPolicies(sql, owner, ['task'], nowSec);
    expect(past).toHaveLength(SPEND_LIMITS.policy.pastListed);
    expect(past.at(-1)?.matchKey).toBe(`over ${SPEND_LIMITS.policy.pastListed + 30}`);
  });
});
