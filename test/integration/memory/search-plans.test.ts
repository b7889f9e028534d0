import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MEMORY_LIMITS } from '../../../src/memory/limits.ts';
import { filterTerms, queryTerms, termsOf } from '../../../src/memory/metadata.ts';
import {
  filterChunks,
  findByTerms,
  findByWords,
  type SearchScope,
} from '../../../src/memory/search/search-store.ts';
import { textArray } from '../../../src/platform/postgres/pg-array.ts';
import type { Queryable } from '../../../src/platform/postgres/sql.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { explained, type Plan } from '../../support/explained.ts';
import { memoryWorld } from '../../support/memory-world.ts';

const OWN = 3_000;
const OTHERS = 9_000;
const metadata = { role: 'tea taster' };

let database: TestDatabase;
let scope: SearchScope;
beforeAll(async () => {
  database = await testDatabase(4);
  const { sql } = database;
  await using w = await memoryWorld({ shared: database });
  await w.remember(['nothing']);
  await w.remember(['nothing'], {}, w.otherId);
  const items = await sql<{ id: string; spaceId: number; agentId: number }[]>`
    select i.id, s.id as "spaceId", s.agent_id as "agentId" from memory_items i
    join memory_spaces s on s.id = i.space_id order by s.agent_id <> ${w.agentId}`;
  await sql`alter table memory_chunks set (autovacuum_enabled = false)`;
  // What others have is newer.
  for (const { agentId, id, spaceId } of items) {
    const count = agentId === w.agentId ? OWN : OTHERS;
    if (agentId === w.agentId) scope = { spaceId, type: null, filter: [] };
    await sql`
      insert into memory_chunks (item_id, space_id, type, content, terms, vector, version)
      select ${id}, ${spaceId}, 'memory', 'a cup of tea',
        ${textArray(termsOf(spaceId, metadata))}::text[], decode('00', 'hex'), n
      from generate_series(1, ${count}::int) n`;
  }
  // What was written last stands in the index, as autovacuum sees to.
  await sql`vacuum analyze memory_chunks`;
});
afterAll(() => database[Symbol.asyncDispose]());

/** How many chunks the database looks at to answer a search. */
const chunksRead = async (search: (sql: Queryable) => Promise<unknown>): Promise<number> =>
  rowsOf(await explained(database.sql, search));

function rowsOf(plan: Plan): number {
  const inside = (plan.Plans ?? []).reduce((sum, inner) => sum + rowsOf(inner), 0);
  if (plan['Relation Name'] === undefined) return inside;
  const each = plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0);
  return inside + each * plan['Actual Loops'];
}

const SEARCHES: readonly [string, (sql: Queryable) => Promise<readonly unknown[]>][] = [
  ['words', (sql) => findByWords(sql, scope, 'tea')],
  ['some of the words', (sql) => findByWords(sql, scope, 'tea coffee')],
  ['terms', (sql) => findByTerms(sql, scope, queryTerms(scope.spaceId, ['role'], 'tea'))],
  [
    'a filter',
    (sql) => filterChunks(sql, { ...scope, filter: filterTerms(scope.spaceId, metadata) }),
  ],
];

describe('a search in the database', () => {
  it('a word search in the database ranks only a bounded number of the newest matches', async () => {
    const { sql } = database;
    const { candidates, rankedMatches } = MEMORY_LIMITS.query;
    const say = async (behind: number) => {
      const [row] = await sql<{ id: number }[]>`
        update memory_chunks set content = 'tea and tea and tea'
        where space_id = ${scope.spaceId} and version = ${OWN - behind} returning id::float8 as id`;
      return row?.id;
    };
    const [ranked, tooOld] = [await say(rankedMatches - 1), await say(rankedMatches + 1)];
    for (const query of ['tea', 'tea coffee']) {
      const found = await findByWords(sql, scope, query);
      expect(found).toHaveLength(candidates);
      expect(found[0]?.id).toBe(ranked);
      expect(found.map(({ id }) => id)).not.toContain(tooOld);
    }
    expect(rankedMatches).toBeLessThanOrEqual(500);
  });

  it('a search in the database reads no chunk of another namespace, whatever the planner’s statistics say', async () => {
    const { sql } = database;
    for (const [name, search] of SEARCHES) {
      expect((await search(sql)).length, name).toBeGreaterThan(0);
      expect(await chunksRead(search), name).toBeLessThanOrEqual(OWN + 1);
    }
    // As of a table with millions.
    await sql`update pg_class set reltuples = 1000 * reltuples where relname like 'memory_chunks%'`;
    await sql`update pg_class set relpages = greatest(1, relpages / 10)
      where relname like 'memory_chunks%'`;
    for (const [name, search] of SEARCHES) {
      expect(await chunksRead(search), name).toBeLessThanOrEqual(OWN + 1);
    }
  });
});
