import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../src/kernel/log.ts';
import { createTables } from '../../../src/memory/pgvector/extension-store.ts';
import { fillInCommit, fillSpace } from '../../../src/memory/pgvector/fill-vectors.ts';
import { preparePgvector } from '../../../src/memory/pgvector/prepare-pgvector.ts';
import { VectorKeeper } from '../../../src/memory/pgvector/vector-keeper.ts';
import { openSql, type Sql } from '../../../src/platform/postgres/sql.ts';
import { testDatabase } from '../../support/database.ts';
import { chanceOf } from '../../support/unit-vectors.ts';
import { DIMS, idsOf, randomRows } from '../../support/vector-search-cases.ts';
import { vectorSpace } from '../../support/vector-spaces.ts';

/** The tables of the index where there is no pgvector: a vector is kept as its text, and nothing can search it. */
async function unsearchedTables() {
  const database = await testDatabase(8);
  await database.sql`create domain vector as text`;
  await createTables(database.sql);
  return database;
}

const chunkIds = async (sql: Sql) =>
  sql<{ id: number; text: string }[]>`
    select c.id::float8 as id from memory_chunks c order by 1`;
const filledIds = async (sql: Sql) =>
  sql<{ id: number }[]>`select chunk_id::float8 as id from memory_index.vectors order by 1`;

describe('the index in the database', () => {
  it('pgvector is not used when the database server does not have the extension', async () => {
    await using database = await testDatabase(1);
    const { sql } = database;
    const found = await sql`select 1 from pg_available_extensions where name = 'vector'`;
    const lacks = await preparePgvector(sql);
    expect(lacks === undefined).toBe(found.length > 0);
    if (found.length === 0) expect(lacks).toMatch(/does not have the extension vector/);
  });

  it('the pgvector table gets the vectors and tags of a commit together with it, or not at all', async () => {
    await using database = await unsearchedTables();
    const { sql } = database;
    const space = await vectorSpace(sql, DIMS);
    const [row] = await space.write(randomRows(1, 3), fillInCommit);
    const [filled] = await sql<{ tag: number; text: string }[]>`
      select tag, embedding as text from memory_index.vectors where chunk_id = ${row?.id ?? 0}`;
    expect(filled?.tag).toBe(row?.tag);
    expect(Float32Array.from(JSON.parse(filled?.text ?? '[]'))).toEqual(row?.vector);
    const failing = space.write(randomRows(2, 3), async (tx, written) => {
      await fillInCommit(tx, written);
      throw new Error('the process has no luck');
    });
    await expect(failing).rejects.toThrow('no luck');
    expect(await filledIds(sql)).toEqual(await chunkIds(sql));
    expect(await filledIds(sql)).toHaveLength(3);
  });

  it('the pgvector table has each chunk once after concurrent writes, deletions, fills and killed workers', async () => {
    await using database = await unsearchedTables();
    const { sql, target } = database;
    const chance = chanceOf(7);
    const spaces = await Promise.all([1, 2, 3].map(() => vectorSpace(sql, 4)));
    // Some were written before the extension was there.
    for (const space of spaces) await space.write(few(230, 1));
    const doomed = doomedSql(target);
    let isOver = false;
    const untilOver = async (work: () => Promise<unknown>) => {
      while (!isOver) await work();
    };
    const writes = spaces.map(async (space, n) => {
      for (let round = 0; round < 40; round++) {
        await space.write(few(12, round), (n + round) % 3 === 0 ? undefined : fillInCommit);
      }
    });
    const deletions = spaces.map((space) =>
      untilOver(async () => {
        const chunks = await sql<{ id: number }[]>`
          select id::float8 as id from memory_chunks where space_id = ${space.id}`;
        await space.remove(chunks.filter(() => chance() < 0.03));
      }),
    );
    const fills = [1, 2].map(() => {
      const keeper = new VectorKeeper({ sql, log: silentLog });
      return untilOver(() => keeper.fill());
    });
    const doomedFills = untilOver(() => {
      const space = spaces[Math.floor(chance() * spaces.length)];
      return fillSpace(doomed.sql, space?.id ?? 0).catch(() => {});
    });
    const kills = untilOver(() => doomed.kill(sql));
    const written = Promise.all(writes).finally(() => {
      isOver = true;
    });
    await Promise.all([written, ...deletions, ...fills, kills, doomedFills]);
    await doomed.sql.end({ timeout: 1 });
    const keeper = new VectorKeeper({ sql, log: silentLog });
    for (let n = 0; n < 3; n++) await keeper.fill();
    expect(idsOf(await filledIds(sql))).toEqual(idsOf(await chunkIds(sql)));
    for (const space of spaces) expect(await fillSpace(sql, space.id)).toBe(false);
  });
});

const few = (count: number, seed: number) =>
  Array.from({ length: count }, (_, n) => ({
    tag: n % 2,
    vector: Float32Array.of(seed, n, 0.5, -1e-7),
  }));

/** A pool whose connections are ended in the middle of their work. */
function doomedSql(target: Parameters<typeof openSql>[0]) {
  const sql = openSql(target, 2, { application_name: 'doomed' });
  return {
    sql,
    kill: (by: Sql) =>
      by`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'doomed'
        and datname = current_database() and state <> 'idle'`,
  };
}
