import { describe, expect, it } from 'vitest';
import { wakeAffordable } from '../../../src/memory/indexing/indexing-store.ts';
import { MEMORY_LIMITS } from '../../../src/memory/limits.ts';
import { findBought } from '../../../src/memory/purchase/buy-once.ts';
import { gatewayErrors } from '../../../src/models/errors.ts';
import { sellingMemory, WORDS } from '../../support/selling-memory.ts';

const TEXT = 'Hi there! My cat is called Tom. He is four years old. Thanks!';
const LOCAL = ['My cat is called Tom.', 'He is four years old.'];
/** As many as the fixed rules draw, so that vectors of the ones would do for the others. */
const FACTS = ["The user's cat is called Tom.", 'The cat Tom is four.'];
/** Five tokens at a tenth of a cent each, and the margin of a twentieth; an answer has five tokens more. */
const VECTORS_COST = 5_250n;
const FACTS_COST = 2n * VECTORS_COST;
const RICH = 50_000_000n;
const never = new Promise<never>(() => {});

type World = Awaited<ReturnType<typeof sellingMemory>>;
type Options = NonNullable<Parameters<World['another']>[0]>;

const answering = (w: World, facts: readonly string[]) => {
  w.upstream.content = JSON.stringify({ facts });
};

/** The paths that the upstream was asked by, in order. */
const asked = (w: World) =>
  w.upstream.seen.map(({ path }) => (path.endsWith('/embeddings') ? 'vectors' : 'facts'));

async function goOn(w: World, { indexer }: Pick<World, 'indexer'> = w): Promise<void> {
  await w.due();
  await indexer.tick();
  await indexer.idle();
}

/** An item whose process died after it had bought everything, and written nothing of it. */
async function bought(w: World, { infer, ...options }: Options & { readonly infer: boolean }) {
  await w.indexer[Symbol.asyncDispose]();
  const doomed = await w.another({
    ...options,
    onStep: (at) => (at === 'embedded' ? never : undefined),
  });
  // An indexer that has noticed the item by itself may have bought before the next statement runs.
  const before = (await w.money())?.consumed ?? 0n;
  await w.ingest([TEXT], {}, infer);
  doomed.indexer.wake();
  await expect.poll(async () => (await w.money())?.consumed).toBeGreaterThan(before);
  await expect.poll(() => kept(w)).toBeGreaterThan(0);
}

const kept = async ({ sql }: World) => {
  const rows = await sql`select 1 from memory_purchases where result is not null`;
  return rows.length;
};

const inferring = { inferModel: WORDS };

describe('vectors that were bought for the facts of the fixed rules', () => {
  it('facts of the fixed rules with bought vectors stay when another process continues and the model works again', async () => {
    await using w = await sellingMemory({ ...inferring, fundsRaw: RICH });
    w.upstream.faults.push({ kind: 'status', status: 500 });
    answering(w, FACTS);
    await bought(w, { ...inferring, infer: true });
    await goOn(w, await w.another(inferring));
    expect(await w.items()).toMatchObject([{ status: 'completed', costRaw: VECTORS_COST }]);
    expect(await w.chunks()).toEqual(LOCAL);
    expect(asked(w)).toEqual(['facts', 'vectors']);
    expect(await w.money()).toEqual({ consumed: VECTORS_COST, held: 0n });
    expect(await kept(w)).toBe(0);
  });

  it('facts without bought vectors are requested from the model once the balance allows', async () => {
    await using w = await sellingMemory({ ...inferring, fundsRaw: 0n });
    answering(w, FACTS);
    await w.ingest([TEXT], {}, true);
    await w.indexer.idle();
    await w.ledger.credit({ agentId: w.agentId, amountRaw: RICH, reference: 'late' });
    await goOn(w);
    expect(await w.chunks()).toEqual(FACTS);
    expect(await w.money()).toEqual({ consumed: FACTS_COST + VECTORS_COST, held: 0n });
  });
});

describe('what was bought for an item', () => {
  it('an unreadable answer of the facts model is paid for once and not requested again', async () => {
    await using w = await sellingMemory({ ...inferring, fundsRaw: RICH });
    w.upstream.content = 'I am a pirate.';
    const late = { kind: 'late', byMs: 0 } as const;
    w.upstream.faults.push(late, { kind: 'status', status: 500 });
    await w.ingest([TEXT], {}, true);
    await w.indexer.idle();
    expect(await w.money()).toEqual({ consumed: FACTS_COST, held: 0n });
    answering(w, FACTS);
    await goOn(w);
    expect(asked(w)).toEqual(['facts', 'vectors', 'vectors']);
    const costRaw = FACTS_COST + VECTORS_COST;
    expect(await w.items()).toMatchObject([{ status: 'completed', costRaw }]);
    expect(await w.chunks()).toEqual(LOCAL);
    expect(await w.money()).toEqual({ consumed: costRaw, held: 0n });
  });

  it.each([
    ['another model for facts', { inferModel: 'acme/words-2' }],
    ['none', {}],
  ])(
    'bought facts are used by a server that has %s, and reported at their price',
    async (_, later) => {
      const local = { usual: 'test/words' };
      await using w = await sellingMemory({ ...inferring, ...local, fundsRaw: RICH });
      answering(w, FACTS);
      await bought(w, { ...inferring, ...local, infer: true });
      await goOn(w, await w.another({ ...local, ...later }));
      expect(await w.items()).toMatchObject([{ status: 'completed', costRaw: FACTS_COST }]);
      expect(await w.chunks()).toEqual(FACTS);
      expect(asked(w)).toEqual(['facts']);
      expect(await kept(w)).toBe(0);
      const [row] = await w.sql`select inferred_by from memory_items`;
      expect(row).toEqual({ inferred_by: WORDS });
    },
  );

  it('bought facts are used at the next attempt when the purchase fails after its delivery', async () => {
    await using w = await sellingMemory({
      ...inferring,
      fundsRaw: RICH,
      through: (models) => ({
        ...models,
        async answer(purchase, keep) {
          await models.answer(purchase, keep);
          throw gatewayErrors.allSourcesFailed(1);
        },
      }),
    });
    answering(w, FACTS);
    await w.ingest([TEXT], {}, true);
    await w.indexer.idle();
    expect(await w.items()).toMatchObject([{ status: 'queued', reason: null }]);
    await goOn(w);
    const costRaw = FACTS_COST + VECTORS_COST;
    expect(await w.items()).toMatchObject([{ status: 'completed', costRaw }]);
    expect(await w.chunks()).toEqual(FACTS);
    expect(asked(w)).toEqual(['facts', 'vectors']);
    expect(await w.money()).toEqual({ consumed: costRaw, held: 0n });
  });

  it('a purchase that a slow process stores and settles while another one checks is found', async () => {
    await using w = await sellingMemory();
    await bought(w, { infer: false });
    const [row] = await w.sql<{ id: string; result: Buffer }[]>`
      select item_id as id, result from memory_purchases`;
    if (row === undefined) throw new Error('something was bought');
    await w.sql`update memory_purchases set result = null`;
    const works = {
      forbid: async () => {},
      async fateOf() {
        await w.sql`update memory_purchases set result = ${row.result}`;
        return { kind: 'charged', chargedRaw: 7n } as const;
      },
    };
    const codec = { encode: (bytes: Buffer) => bytes, decode: (bytes: Buffer) => bytes };
    const item = { id: row.id, agentId: w.agentId };
    const found = await findBought({ sql: w.sql, works }, { item, kind: 'vectors', codec });
    expect(found).toMatchObject({ result: row.result, costRaw: 7n });
  });

  it('vectors are bought again when a memory’s chunks have changed, and both purchases are reported', async () => {
    await using w = await sellingMemory();
    await bought(w, { infer: false });
    // As another version of the server would cut it: as many pieces, of other words.
    await w.sql`update memory_items set text = 'her car is red'`;
    await goOn(w, await w.another());
    const [inputs] = w.upstream.seen.slice(-1).map(({ body }) => body.input);
    expect(inputs).toEqual(['her car is red']);
    expect(await w.items()).toMatchObject([{ status: 'completed', costRaw: 2n * VECTORS_COST }]);
    expect(await w.money()).toEqual({ consumed: 2n * VECTORS_COST, held: 0n });
  });
});

describe('an item that fails for good', () => {
  const { attempts, refusedMs } = MEMORY_LIMITS.indexing;

  it('a memory that fails at its last refusal reports what was charged, and its stored purchases are deleted', async () => {
    await using w = await sellingMemory({ ...inferring, fundsRaw: RICH });
    answering(w, FACTS);
    const late = { kind: 'late', byMs: 0 } as const;
    w.upstream.faults.push(late, { kind: 'status', status: 500 });
    await w.ingest([TEXT], {}, true);
    await w.indexer.idle();
    expect(await kept(w)).toBe(1);
    await w.sql`update memory_items set waits = ${refusedMs.times - 1}`;
    w.upstream.faults.push({ kind: 'status', status: 500 });
    await goOn(w);
    expect(await w.items()).toMatchObject([{ status: 'failed', costRaw: FACTS_COST }]);
    expect(await w.sql`select 1 from memory_purchases`).toHaveLength(0);
    expect(await w.money()).toEqual({ consumed: FACTS_COST, held: 0n });
  });

  it('a memory whose vectors do not fit its namespace fails, reports its charge, and writes no chunk', async () => {
    await using w = await sellingMemory();
    await bought(w, { infer: false });
    await w.sql`update memory_spaces set dims = 7`;
    const other = await w.another();
    for (let n = 0; n < attempts; n++) await goOn(w, other);
    expect(await w.items()).toMatchObject([{ status: 'failed', costRaw: VECTORS_COST }]);
    expect(await w.chunks()).toEqual([]);
    // What was kept does not fit: each try asks anew.
    expect(asked(w)).toHaveLength(1 + attempts);
    expect(await w.sql`select 1 from memory_purchases`).toHaveLength(0);
    expect(await w.money()).toEqual({ consumed: VECTORS_COST, held: 0n });
  });
});

describe('items that one balance wakes', () => {
  it('memories that a new balance covers only in part lose no attempt by waking up', async () => {
    await using w = await sellingMemory({ fundsRaw: 0n });
    await w.ingest(['her car is red', 'his car is red', 'our car is red']);
    await w.indexer.idle();
    const { times } = MEMORY_LIMITS.indexing.refusedMs;
    await w.sql`update memory_items set waits = ${times - 1}`;
    const [{ needs } = { needs: 0n }] = await w.sql<{ needs: bigint }[]>`
      select max(needs_raw) as needs from memory_items`;
    await w.ledger.credit({ agentId: w.agentId, amountRaw: needs, reference: 'one' });
    await wakeAffordable(w.sql);
    await w.indexer.tick();
    await w.indexer.idle();
    const statuses = (await w.items()).map(({ status }) => status).sort();
    expect(statuses).toEqual(['completed', 'queued', 'queued']);
    const rows = await w.sql`select waits from memory_items where status = 'queued'`;
    expect([...rows]).toEqual([{ waits: times - 1 }, { waits: times - 1 }]);
  });
});
