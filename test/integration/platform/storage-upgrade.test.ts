import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkInvariants } from '../../../src/ledger/store/check-invariants.ts';
import { findHold } from '../../../src/ledger/store/orphan-store.ts';
import { migrateDatabase, migrationsFolder } from '../../../src/platform/postgres/migrate.ts';
import { openSql, type Sql } from '../../../src/platform/postgres/sql.ts';
import { targetOn, testDatabase } from '../../support/database.ts';
import { liveLedger } from '../../support/ledger-load.ts';
import { DESTINATION } from '../../support/spending.ts';

type Journal = { readonly entries: readonly { readonly tag: string; readonly when: number }[] };

/** The schema as it was after the first `count` migrations, known to the migrator as such. */
async function schemaOf(sql: Sql, count: number): Promise<void> {
  const folder = migrationsFolder();
  const { entries } = JSON.parse(
    readFileSync(join(folder, 'meta/_journal.json'), 'utf8'),
  ) as Journal;
  await sql.unsafe(`create schema drizzle; create table drizzle.__drizzle_migrations (
    id serial primary key, hash text not null, created_at bigint)`);
  for (const { tag, when } of entries.slice(0, count)) {
    const text = readFileSync(join(folder, `${tag}.sql`), 'utf8');
    for (const statement of text.split('--> statement-breakpoint')) await sql.unsafe(statement);
    await sql`
      insert into drizzle.__drizzle_migrations (hash, created_at)
      values (${tag}, ${String(when)}::bigint)`;
  }
}

/** An agent with a line of three keys, three charges, and a hold that is open. */
const FILLED = `
  insert into developers (account_id, wallet) values ('acct_old', '0xold');
  insert into agents (account_id, name, status, funding_mode, max_rate_bps, expiry_seconds)
    values ('acct_old', 'old', 'active', 'wallet', 0, 3600);
  insert into team_funds (account_id) values ('acct_old');
  insert into agent_funds (agent_id, account_id, spendable_raw, held_raw, credited_raw, consumed_raw)
    values (1, 'acct_old', 900, 40, 1000, 60);
  insert into agent_keys (agent_id, digest, prefix, permissions, rotated_from, revoked_at) values
    (1, 'a', 'svc_', 'read_write', null, now()), (1, 'b', 'svc_', 'read_write', 1, now()),
    (1, 'c', 'svc_', 'read_write', 2, null), (1, 'd', 'svc_', 'read_write', null, null);
  insert into postings (id, agent_id, code, asked_raw, debits, credits, amounts) values
    ('credit:old', 1, 'funding.credit', 1000, '{funding}', '{agent:1:spendable}', '{1000}'),
    ('hold:spent', 1, 'hold.open', 60, '{agent:1:spendable}', '{agent:1:held}', '{60}'),
    ('resolve:spent', 1, 'hold.settle', 60, '{agent:1:held}', '{gateway}', '{60}'),
    ('hold:open', 1, 'hold.open', 40, '{agent:1:spendable}', '{agent:1:held}', '{40}');
  insert into holds (id, agent_id, amount_raw, kind, node_id, lease_epoch)
    values ('open', 1, 40, 'request', 'old node', 1);
  insert into charges (agent_id, posting_id, target_url, target_host, method, status, cost_raw, model,
      rail, usage, action_id, created_at) values
    (1, 'resolve:spent', 'x', 'x', 'POST', 'success', 50, 'm', 'free', '{}', 'act', '2026-01-01T23:59:59Z'),
    (1, 'resolve:spent', 'x', 'x', 'POST', 'failed', 10, 'm', 'free', '{}', 'act', '2026-01-01T00:00:00Z'),
    (1, 'resolve:spent', 'x', 'x', 'POST', 'success', 0, null, null, '{}', null, '2026-01-02T00:00:00Z')`;

it('free calls that were written before are counted by their actions', async () => {
  await using scratch = await testDatabase(1);
  const name = `${(await scratch.sql`select current_database() as name`)[0]?.name}_free`;
  await scratch.sql.unsafe(`create database "${name}" template template0`);
  const target = targetOn(scratch.target, name);
  const sql = openSql(target, 4);
  try {
    await schemaOf(sql, 8);
    await sql`
      insert into proxy_passthroughs (agent_id, target_url, method, response_status_code, latency_ms, action_id)
      values (1, 'u', 'GET', 200, 1, 'a'), (1, 'u', 'GET', 200, 1, 'a'), (1, 'u', 'GET', 200, 1, null),
        (2, 'u', 'GET', 200, 1, 'a')`;
    await migrateDatabase(target);
    const rows = await sql`select agent_id, action_id, calls from free_action_totals order by 1`;
    expect([...rows]).toEqual([
      { agent_id: 1, action_id: 'a', calls: 2 },
      { agent_id: 2, action_id: 'a', calls: 1 },
    ]);
  } finally {
    await sql.end({ timeout: 1 });
    await scratch.sql.unsafe(`drop database if exists "${name}" with (force)`);
  }
});

it('a database of the version before keeps its money, its sums and its lines of keys', async () => {
  await using scratch = await testDatabase(1);
  const name = `${(await scratch.sql`select current_database() as name`)[0]?.name}_old`;
  await scratch.sql.unsafe(`create database "${name}" template template0`);
  const target = targetOn(scratch.target, name);
  const sql = openSql(target, 4);
  try {
    await schemaOf(sql, 2);
    await sql.unsafe(FILLED);
    await migrateDatabase(target);

    const roots = await sql<{ root_id: number | null }[]>`
      select root_id from agent_keys order by id`;
    expect(roots.map((row) => row.root_id)).toEqual([null, 1, 1, null]);
    expect([
      ...(await sql`
        select day::text, model, rail, calls, failed, cost_raw from spend_totals order by 1`),
    ]).toEqual([
      { day: '2026-01-01', model: 'm', rail: 'free', calls: 2, failed: 1, cost_raw: 60n },
      { day: '2026-01-02', model: '', rail: '', calls: 1, failed: 0, cost_raw: 0n },
    ]);
    expect([...(await sql`select action_id, calls, spent_raw from action_totals`)]).toEqual([
      { action_id: 'act', calls: 2, spent_raw: 50n },
    ]);

    // What was held under the version before is settled by this one.
    await using ledger = liveLedger(sql, 'new');
    const open = await findHold(sql, 'open');
    if (open === undefined) throw new Error('the hold is gone');
    const settled = { hold: open, actualRaw: 15n, account: 'gateway', source: 'x' } as const;
    expect(await ledger.settle(settled)).toMatchObject({ kind: 'settled', chargedRaw: 15n });
    const spender = { agentId: 1, keyId: 3, keyRootId: 1 };
    const again = { spender, holdId: 'new', amountRaw: 925n, destination: DESTINATION };
    expect((await ledger.hold(again)).kind).toBe('held');
    expect(await checkInvariants(sql)).toEqual([]);
  } finally {
    await sql.end({ timeout: 1 });
    await scratch.sql.unsafe(`drop database if exists "${name}" with (force)`);
  }
});
