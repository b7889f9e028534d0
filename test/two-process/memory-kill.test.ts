import { expect, it } from 'vitest';
import { createApi } from '../../src/app/commands/demo/api.ts';
import { fundAgent } from '../../src/app/commands/demo/fund-agent.ts';
import { openSql, type Sql } from '../../src/platform/postgres/sql.ts';
import { ADMIN_KEY, processPlace } from '../support/process-place.ts';
import { startServerProcess } from '../support/server-process.ts';
import { ask, epochSeconds } from '../support/whole-world.ts';

/** More rounds and items are asked for by hand: 13 and 100 are ten thousand memories. */
const ROUNDS = Number(process.env.MEMORY_KILLS ?? 3);
const INGESTS = 8;
const ITEMS = Number(process.env.MEMORY_ITEMS ?? 12);

type Answer = {
  readonly result: { readonly data: { readonly results: { readonly id: string }[] } };
};

/** How many items there are, how many are completed, and how many have not the chunks that their status says. */
async function count(sql: Sql): Promise<{ items: number; done: number; wrong: number }> {
  const [row] = await sql<{ items: number; done: number; wrong: number }[]>`
    select count(*)::int as items, count(*) filter (where status = 'completed')::int as done,
      count(*) filter (where chunks <> case when status = 'completed' then 1 else 0 end)::int as wrong
    from (select i.status, count(c.id) as chunks from memory_items i
      left join memory_chunks c on c.item_id = i.id group by i.id) i`;
  return row ?? { items: 0, done: 0, wrong: 0 };
}

it('acknowledged memories are each indexed exactly once, whenever an indexing process is killed', async () => {
  await using place = await processPlace();
  const sql = openSql(place.target, 4);
  await using kept = await startServerProcess(place.environment);
  const { agentKey } = await fundAgent(createApi(kept.url), {
    name: 'rememberer',
    amountRaw: 1_000n,
    adminApiKey: ADMIN_KEY,
    nowSeconds: epochSeconds(),
    said: () => {},
  });
  const call = (url: string, op: string, body: unknown) =>
    ask(`${url}/v1/db/vectordb/${op}`, { headers: { authorization: `Bearer ${agentKey}` }, body });
  const textOf = (round: number, n: number, item: number) =>
    `In round ${round} of room ${n} the lamp number ${item} was replaced.`;
  const acknowledged: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await using doomed = await startServerProcess(place.environment);
    const before = (await count(sql)).done;
    let isKilled = false;
    const ingests = Array.from({ length: INGESTS }, async (_, n) => {
      const memories = Array.from({ length: ITEMS }, (_, item) => ({
        text: textOf(round, n, item),
      }));
      const isKept = n % 4 === 0;
      const body = { type: 'memory', memories, subTenantId: `room-${n}` };
      try {
        const answer = await call((isKept ? kept : doomed).url, 'ingest', body);
        expect(answer.status).toBe(200);
        const { results } = (answer.body as unknown as Answer).result.data;
        acknowledged.push(...results.map(({ id }) => id));
      } catch (error) {
        // The killed process alone may leave a request without an answer.
        if (isKept || !isKilled) throw error;
      }
    });
    // Both are at work: the kill comes at another moment of that in each round.
    await expect
      .poll(async () => (await count(sql)).done - before, { interval: 5, timeout: 60_000 })
      .toBeGreaterThan(7 * round);
    isKilled = true;
    await doomed.kill();
    await Promise.all(ingests);
    expect((await count(sql)).wrong).toBe(0);
  }
  await expect
    .poll(
      async () => {
        // Claims end now, those of the dead and those of the living, whose work then counts no more.
        await sql`update memory_items set due_at = now() where status = 'processing'`;
        const { done, items, wrong } = await count(sql);
        expect(wrong).toBe(0);
        return items - done;
      },
      { interval: 250, timeout: 90_000 },
    )
    .toBe(0);
  const rows = await sql<{ id: string }[]>`select id from memory_items`;
  const ids = new Set(rows.map(({ id }) => id));
  expect(acknowledged.filter((id) => !ids.has(id))).toEqual([]);
  expect(acknowledged.length).toBeGreaterThanOrEqual(ROUNDS * 2 * ITEMS);
  const texts = await sql`select text from memory_items group by text having count(*) > 1`;
  expect(texts).toHaveLength(0);
  const query = { query: textOf(0, 0, 5), subTenantId: 'room-0', maxResults: 1 };
  const found = await call(kept.url, 'query', query);
  expect(found.body).toMatchObject({
    result: { data: { chunks: [{ chunk_content: query.query }] } },
  });
  await sql.end({ timeout: 1 });
}, 240_000);
