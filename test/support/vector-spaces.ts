import type { IndexedRow } from '../../src/memory/index/pack-rows.ts';
import { completeItems, type OnChunks } from '../../src/memory/indexing/indexing-store.ts';
import { deleteItems } from '../../src/memory/item-store.ts';
import { readVersions, type SpaceVersion } from '../../src/memory/search/search-store.ts';
import { findOrMakeSpace, lockOrMakeTenant } from '../../src/memory/tenant-store.ts';
import { textArray } from '../../src/platform/postgres/pg-array.ts';
import type { Sql } from '../../src/platform/postgres/sql.ts';
import { seedAgents } from './ledger-world.ts';

const CLAIM = 'claim';
const TYPES = ['memory', 'knowledge'] as const;

export type NewRow = Omit<IndexedRow, 'id'>;

/** A namespace of an agent of its own, to be written and searched without texts. */
export async function vectorSpace(sql: Sql, dims: number) {
  const [agent] = await seedAgents(sql, 1);
  const agentId = agent?.agentId ?? 0;
  const { id } = await sql.begin(async (tx) => {
    await lockOrMakeTenant(tx, agentId);
    const wanted = { agentId, subTenant: null, model: 'test/vectors', dims, spaces: 0 };
    return findOrMakeSpace(tx, wanted);
  });
  let items = 0;
  return {
    id,
    agentId,
    dims,
    /** Writes rows in one commit, as the indexer does, and returns them with their ids. */
    async write(rows: readonly NewRow[], onChunks?: OnChunks): Promise<readonly IndexedRow[]> {
      const ids = rows.map(() => `mem_${id}_${++items}`);
      await sql`
        insert into memory_items (id, space_id, agent_id, type, text, infer, metadata, status, claim)
        select x.id, ${id}, ${agentId}, x.type, '', false, '{}', 'processing', ${CLAIM}
        from unnest(${textArray(ids)}::text[],
          ${textArray(rows.map(({ tag }) => TYPES[tag] ?? ''))}::text[]) as x(id, type)`;
      const chunks = rows.map(({ tag, vector }, n) => ({
        itemId: ids[n] ?? '',
        type: TYPES[tag] ?? TYPES[0],
        content: '',
        vector,
      }));
      const terms = new Map(ids.map((item) => [item, []]));
      await completeItems(sql, { claim: CLAIM, spaceId: id, terms }, chunks, onChunks);
      const written = await sql<{ id: number }[]>`
        select id::float8 as id from memory_chunks
        where item_id = any(${textArray(ids)}::text[]) order by id`;
      return rows.map((row, n) => ({ ...row, id: written[n]?.id ?? 0 }));
    },
    async remove(rows: readonly Pick<IndexedRow, 'id'>[]): Promise<void> {
      const chunks = rows.map(({ id: chunkId }) => chunkId);
      const found = await sql<{ id: string }[]>`
        select item_id as id from memory_chunks where id = any(${`{${chunks.join(',')}}`}::bigint[])`;
      const wanted = { ids: found.map((item) => item.id), type: null };
      await sql.begin((tx) => deleteItems(tx, { agentId, id }, wanted));
    },
    /** As a query finds it. */
    async stored(): Promise<SpaceVersion> {
      const [space] = await readVersions(sql, [id]);
      if (space === undefined) throw new Error('the space was deleted');
      return space;
    },
  };
}
