import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFairQueue } from '../../../src/engines/threads/fair-queue.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { MEMORY_LIMITS } from '../../../src/memory/limits.ts';
import { fillInCommit, fillSpace } from '../../../src/memory/pgvector/fill-vectors.ts';
import { listGraphs } from '../../../src/memory/pgvector/graphs-store.ts';
import { createPgvectorSearch } from '../../../src/memory/pgvector/pgvector-search.ts';
import { preparePgvector } from '../../../src/memory/pgvector/prepare-pgvector.ts';
import { VectorKeeper } from '../../../src/memory/pgvector/vector-keeper.ts';
import type { VectorSearch } from '../../../src/memory/search/vector-search.ts';
import { removeTenant, sweepDeleted } from '../../../src/memory/tenant-store.ts';
import { seedAgents } from '../../support/ledger-world.ts';
import { memoryProcess } from '../../support/memory-world.ts';
import { pgvectorServer } from '../../support/pgvector-server.ts';
import { chanceOf, randomVector, searchAll } from '../../support/unit-vectors.ts';
import {
  aQuery,
  DIMS,
  expectSame,
  idsOf,
  randomRows,
  vectorSearchCases,
} from '../../support/vector-search-cases.ts';
import { vectorSpace } from '../../support/vector-spaces.ts';

const LARGE = 100;
const { rowsPerFill } = MEMORY_LIMITS.pgvector;

/** An index that says so when it is asked. */
const NOT_HERE: VectorSearch = {
  search: () => Promise.reject(new Error('pgvector did not search')),
  follow: async () => {},
  followAll: async () => {},
  drop: async () => {},
};

let server: Awaited<ReturnType<typeof pgvectorServer>>;
beforeAll(async () => {
  server = await pgvectorServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const keeperOf = (): VectorKeeper =>
  new VectorKeeper({ sql: server.sql, log: silentLog, comparedRows: LARGE });

/** Fills what is missing and makes graphs until the database has all that it should. */
async function settle(): Promise<void> {
  const keeper = keeperOf();
  await keeper.fill();
  await keeper.fill();
  for (let graphs = -1; graphs < (await listGraphs(server.sql)).length; ) {
    graphs = (await listGraphs(server.sql)).length;
    await keeper.keepGraphs();
  }
}

function searchOf(more: { comparedRows?: number; packed?: VectorSearch; wanted?: number[] } = {}) {
  const { comparedRows = LARGE, packed = NOT_HERE, wanted = [] } = more;
  const keeper = { want: (id: number) => void wanted.push(id) };
  const line = createFairQueue(MEMORY_LIMITS.queue.reads);
  return createPgvectorSearch({ sql: server.sql, keeper, packed, line, comparedRows });
}

async function countVectors(spaceId: number): Promise<number> {
  const [row] = await server.sql<{ n: number }[]>`
    select count(*)::int as n from memory_index.vectors where space_id = ${spaceId}`;
  return row?.n ?? 0;
}

async function graphScans(spaceId: number): Promise<bigint> {
  await server.sql`select pg_stat_force_next_flush()`;
  const [row] = await server.sql<{ scans: bigint }[]>`
    select idx_scan as scans from pg_stat_user_indexes
    where indexrelname = ${`graph_${spaceId}`}`;
  return row?.scans ?? 0n;
}

describe('a database with pgvector', () => {
  it('pgvector is left alone with a reason when it may not be installed, is too old or off the search path', async () => {
    const { sql } = server;
    await sql`create role plain`;
    await sql`set role plain`;
    expect(await preparePgvector(sql)).toMatch(/cannot be set up \(permission denied/);
    await sql`reset role`;
    await sql`create extension vector`;
    const [row] = await sql<{ version: string }[]>`
      select extversion as version from pg_extension where extname = 'vector'`;
    await sql`update pg_extension set extversion = '0.7.4' where extname = 'vector'`;
    expect(await preparePgvector(sql)).toBe('its extension vector is 0.7.4, and 0.8 is needed');
    await sql`update pg_extension set extversion = ${row?.version ?? ''} where extname = 'vector'`;
    await sql`set search_path = pg_catalog`;
    expect(await preparePgvector(sql)).toMatch(/off the search path/);
    await sql`reset search_path`;
    expect(await sql`select 1 from pg_namespace where nspname = 'memory_index'`).toHaveLength(0);
    expect(await preparePgvector(sql)).toBeUndefined();
    // As the next process that starts does.
    expect(await preparePgvector(sql)).toBeUndefined();
  });
});

describe('a search by pgvector', () => {
  vectorSearchCases(() => ({
    sql: server.sql,
    searches: [searchOf({ comparedRows: 1_000_000 }), searchOf()],
    onChunks: fillInCommit,
    settle,
  }));

  it('a pgvector search uses the graph of a large namespace, and none for a small one or a rare tag', async () => {
    const { sql } = server;
    const space = await vectorSpace(sql, DIMS);
    const rare = [0, 50, 120];
    const new200 = randomRows(21, 200).map((row, n) => ({ ...row, tag: rare.includes(n) ? 1 : 0 }));
    const rows = await space.write(new200, fillInCommit);
    const stored = await space.stored();
    await expect(searchOf().search(stored, aQuery())).rejects.toThrow('pgvector did not search');
    await settle();
    const found = await searchOf().search(stored, aQuery());
    expectSame(found, searchAll(rows, aQuery()));
    expect(await graphScans(space.id)).toBe(1n);
    const ofTag = await searchOf().search(stored, aQuery({ tag: 1 }));
    expectSame(ofTag, searchAll(rows, aQuery({ tag: 1 })));
    expect(ofTag).toHaveLength(3);
    expect(await searchOf({ comparedRows: 200 }).search(stored, aQuery())).toHaveLength(5);
    expect(await graphScans(space.id)).toBe(1n);
  });

  it('pgvector builds graphs of vectors of the largest allowed length, and of several lengths side by side', async () => {
    const { sql } = server;
    for (const dims of [MEMORY_LIMITS.index.dims, 1_536]) {
      const chance = chanceOf(dims);
      const space = await vectorSpace(sql, dims);
      const vectors = Array.from({ length: LARGE + 10 }, () => randomVector(chance, dims));
      const rows = await space.write(
        vectors.map((vector) => ({ tag: 0, vector })),
        fillInCommit,
      );
      await settle();
      const asked = { vector: randomVector(chance, dims), k: 5 };
      const found = await searchOf().search(await space.stored(), asked);
      expectSame(found, searchAll(rows, asked));
      expect(await graphScans(space.id)).toBe(1n);
    }
  }, 60_000);

  it('an unfilled namespace is searched by the packed index, and its fill is requested', async () => {
    const { sql } = server;
    const space = await vectorSpace(sql, DIMS);
    // By a process that does not use pgvector.
    let rows = await space.write(randomRows(22, 2 * rowsPerFill + 30));
    const wanted: number[] = [];
    const packed = memoryProcess(sql).loader;
    const both = searchOf({ packed, wanted, comparedRows: 1_000 });
    const alone = searchOf({ comparedRows: 1_000 });
    const expectFound = async (search: VectorSearch) =>
      expectSame(await search.search(await space.stored(), aQuery()), searchAll(rows, aQuery()));
    await expectFound(both);
    expect(wanted).toEqual([space.id]);
    expect(await fillSpace(sql, space.id)).toBe(true);
    expect(await countVectors(space.id)).toBe(rowsPerFill);
    await expect(expectFound(alone)).rejects.toThrow('pgvector did not search');
    // What is written meanwhile waits for its turn.
    rows = [...rows, ...(await space.write(randomRows(23, 10), fillInCommit))];
    expect(await countVectors(space.id)).toBe(rowsPerFill);
    await expectFound(both);
    const keeper = keeperOf();
    keeper.want(space.id);
    await keeper.fill();
    expect(await countVectors(space.id)).toBe(rows.length);
    await expectFound(alone);
  });
});

describe('the memory store', () => {
  it('the memory store finds ingested memories through pgvector, and nothing of a deleted one', async () => {
    const { sql } = server;
    const searchedBy = () => searchOf({ comparedRows: 1_000 });
    const { ask, indexer } = memoryProcess(sql, { searchedBy, onChunks: fillInCommit });
    const [agent] = await seedAgents(sql, 1);
    const agentId = agent?.agentId ?? 0;
    const memories = ['her automobile is red', 'his house is blue'].map((text) => ({ text }));
    const ingested = await ask(agentId, 'ingest', { type: 'memory', memories });
    await indexer.idle();
    const query = { query: 'car', mode: 'semantic' };
    const found = async () =>
      (await ask(agentId, 'query', query)).body.result.data.chunks.map(
        (chunk: { chunk_content: string }) => chunk.chunk_content,
      );
    expect(await found()).toEqual(['her automobile is red', 'his house is blue']);
    const [red] = ingested.body.result.data.results;
    await ask(agentId, 'delete', { ids: [red.id] });
    expect(await found()).toEqual(['his house is blue']);
    const [space] = await sql<{ id: number }[]>`
      select id from memory_spaces where agent_id = ${agentId}`;
    expect(await countVectors(space?.id ?? 0)).toBe(1);
  });
});

describe('what is deleted', () => {
  it('a deleted memory leaves no row, and after the next vacuum no byte in the pgvector graph', async () => {
    const { database, sql } = server;
    const space = await vectorSpace(sql, DIMS);
    const rows = await space.write(randomRows(24, 150), fillInCommit);
    await settle();
    const [gone] = rows;
    if (gone === undefined) throw new Error('no row');
    const [halved] = await sql<{ hex: string }[]>`
      select encode(halfvec_send(embedding::halfvec(64)), 'hex') as hex
      from memory_index.vectors where chunk_id = ${gone.id}`;
    const graph = async () => {
      await sql`checkpoint`;
      const [file] = await sql<{ path: string }[]>`
        select pg_relation_filepath(${`memory_index.graph_${space.id}`}) as path`;
      return Buffer.from(database.Module.FS.readFile(`/pglite/data/${file?.path}`));
    };
    // As it lies in the pages: numbers in the order of the machine's bytes, behind a head of four.
    const bytes = Buffer.from(halved?.hex ?? '', 'hex')
      .subarray(4)
      .swap16();
    expect((await graph()).includes(bytes)).toBe(true);
    await space.remove([gone]);
    expect(await countVectors(space.id)).toBe(149);
    expect(idsOf(await searchOf().search(await space.stored(), aQuery({ k: 140 })))).not.toContain(
      gone.id,
    );
    await sql`vacuum memory_index.vectors`;
    expect((await graph()).includes(bytes)).toBe(false);
  });

  it('a deleted namespace takes its pgvector graph with it, and an invalid graph is built again', async () => {
    const { sql } = server;
    const space = await vectorSpace(sql, DIMS);
    await space.write(randomRows(25, 150), fillInCommit);
    const graphNow = async () =>
      (await listGraphs(sql)).find(({ spaceId }) => spaceId === space.id);
    await settle();
    expect(await graphNow()).toEqual({ spaceId: space.id, isValid: true });
    await sql`update pg_index set indisvalid = false
      where indexrelid = ${`memory_index.graph_${space.id}`}::regclass`;
    await expect(searchOf().search(await space.stored(), aQuery())).rejects.toThrow('did not');
    await settle();
    expect(await graphNow()).toEqual({ spaceId: space.id, isValid: true });
    await sql.begin((tx) => removeTenant(tx, space.agentId));
    await settle();
    expect(await graphNow()).toBeUndefined();
    while (await sweepDeleted(sql));
    expect(await countVectors(space.id)).toBe(0);
    expect(await sql`select 1 from memory_index.spaces where space_id = ${space.id}`).toEqual([]);
  });
});
