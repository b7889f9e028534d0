import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkInvariants } from '../../../src/ledger/store/check-invariants.ts';
import { findHold } from '../../../src/ledger/store/orphan-store.ts';
import { SchemaNotKnown } from '../../../src/platform/postgres/adopt-baseline.ts';
import { listMigrations } from '../../../src/platform/postgres/backup/schema.ts';
import { migrateDatabase } from '../../../src/platform/postgres/migrate.ts';
import { readBaseline } from '../../../src/platform/postgres/migrations-folder.ts';
import { schemaDifferences } from '../../../src/platform/postgres/schema-differences.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { liveLedger } from '../../support/ledger-load.ts';
import { DESTINATION } from '../../support/spending.ts';

const BASELINE = readBaseline();
let shared: TestDatabase;
/** Migrations of a new database. */
let all: readonly string[] = [];
beforeAll(async () => {
  shared = await testDatabase(2);
  all = await listMigrations(shared.sql);
  await makeBaseline(shared);
});
afterAll(() => shared[Symbol.asyncDispose]());

/** Takes a database back to the schema of the baseline. */
const makeBaseline = ({ sql }: TestDatabase) =>
  sql.unsafe(`drop schema public cascade; create schema public; ${BASELINE.text}`);

/** Takes back what a transaction has changed. */
class Undo extends Error {}

const REPLACED = `
  create or replace function fill_bucket(buckets bigint[], head bigint, bucket bigint, amount bigint)
  returns bigint[] language sql immutable as 'select buckets'`;

/** A database with the schema of the baseline whose migrator knows it as made by `hashes`. */
async function databaseMadeBy(hashes: readonly string[]): Promise<TestDatabase> {
  const made = await testDatabase(4);
  await makeBaseline(made);
  await made.sql`delete from drizzle.__drizzle_migrations`;
  for (const [i, hash] of hashes.entries()) {
    const when = BASELINE.before[i]?.when ?? BASELINE.when + i;
    await made.sql`
      insert into drizzle.__drizzle_migrations (hash, created_at) values (${hash}, ${String(when)}::bigint)`;
  }
  return made;
}

const allBefore = (): string[] => BASELINE.before.map(({ sha256 }) => sha256);

/** The sentence with which a migration of `made` is refused; fails where nothing refuses it. */
async function refusalOf(made: TestDatabase): Promise<string> {
  const before = await listMigrations(made.sql);
  const error = await migrateDatabase(made.target).catch((caught: unknown) => caught);
  if (!(error instanceof SchemaNotKnown)) throw error ?? new Error('nothing was refused');
  expect(await listMigrations(made.sql)).toEqual(before);
  expect(await made.sql`select 1 from pg_namespace where nspname like 'svc%'`).toHaveLength(0);
  return error.message;
}

/** An agent with a line of three keys, three charges, and a hold that is open. */
const FILLED = `
  insert into developers (account_id, wallet) values ('acct_old', '0xold');
  insert into agents (account_id, name, status, funding_mode, max_rate_bps, expiry_seconds)
    values ('acct_old', 'old', 'active', 'wallet', 0, 3600);
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

describe('a database of the migrations before the baseline', () => {
  it('a database from before the baseline keeps its money and its open holds, and has all migrations after migrating', async () => {
    await using made = await databaseMadeBy(allBefore());
    await made.sql.unsafe(FILLED);
    await migrateDatabase(made.target);
    expect(await listMigrations(made.sql)).toEqual(all);

    await using ledger = liveLedger(made.sql, 'new');
    const open = await findHold(made.sql, 'open');
    if (open === undefined) throw new Error('the hold is gone');
    const settled = { hold: open, actualRaw: 15n, account: 'gateway', source: 'x' } as const;
    expect(await ledger.settle(settled)).toMatchObject({ kind: 'settled', chargedRaw: 15n });
    const spender = { agentId: 1, keyId: 3, keyRootId: 1 };
    const again = { spender, holdId: 'new', amountRaw: 925n, destination: DESTINATION };
    expect((await ledger.hold(again)).kind).toBe('held');
    expect(await checkInvariants(made.sql)).toEqual([]);
  });

  it('a database from before the baseline is adopted once by several processes that start at once', async () => {
    await using made = await databaseMadeBy(allBefore());
    await Promise.all([1, 2, 3].map(() => migrateDatabase(made.target)));
    expect(await listMigrations(made.sql)).toEqual(all);
  });

  it('a database from before the baseline is adopted even with another column order and an extra index of its operator', async () => {
    await using made = await databaseMadeBy(allBefore());
    await made.sql.unsafe(`
      alter table developers rename column created_at to old;
      alter table developers add column created_at timestamptz not null default now();
      alter table developers drop column old;
      create index operators_own on charges (target_host)`);
    await migrateDatabase(made.target);
    expect(await listMigrations(made.sql)).toEqual(all);
    expect(await made.sql`select to_regclass('operators_own') as at`).toEqual([
      { at: 'operators_own' },
    ]);
  });

  it('a database from before the baseline is refused and left unchanged when its schema was changed otherwise', async () => {
    await using made = await databaseMadeBy(allBefore());
    await made.sql`drop index charges_agent_at`;
    expect(await refusalOf(made)).toMatch(/lacks: index .*charges_agent_at.*Restore these/);
  });

  it('a database that lacks migrations before the baseline is refused, with the version that helps', async () => {
    await using made = await databaseMadeBy(allBefore().slice(0, 25));
    const last = BASELINE.before.at(-1)?.tag ?? '';
    expect(await refusalOf(made)).toBe(
      `The database has 25 of the ${BASELINE.before.length} migrations before ${last}: start the newest version that still has ` +
        `migrations/${last}.sql on it once, then this one.`,
    );
  });

  it('a database with migrations of another program, before or after the baseline, is refused', async () => {
    for (const hashes of [['else'], [...allBefore(), 'else'], allBefore().with(3, 'else')]) {
      await using made = await databaseMadeBy(hashes);
      expect(await refusalOf(made)).toContain('is none of this program');
    }
  });
});

describe('schemaDifferences', () => {
  it.each([
    ['an index', 'drop index charges_agent_at', /^index .*charges_agent_at/],
    ['a default', 'alter table agents alter column mode drop default', /^column agents\.mode/],
    ['a function', 'drop function roll_buckets', /^function .*roll_buckets/],
    ['the body of a function', REPLACED, /^function .*fill_bucket/],
    ['a key', 'alter table holds drop constraint holds_pkey', /^constraint holds\.holds_pkey/],
    ['fillfactor', 'alter table agent_funds reset (fillfactor)', /^table agent_funds/],
  ])('schemaDifferences reports %s that is missing or different', async (_, change, told) => {
    await shared.sql
      .begin(async (tx) => {
        expect(await schemaDifferences(tx, BASELINE.text)).toEqual([]);
        await tx.unsafe(change);
        expect((await schemaDifferences(tx, BASELINE.text))[0]).toMatch(told);
        throw new Undo();
      })
      .catch((error: unknown) => {
        if (!(error instanceof Undo)) throw error;
      });
  });
});
