import { describe, expect, it } from 'vitest';
import { sellingMemory, WORDS } from '../../support/selling-memory.ts';

const TEXT = 'Hi there! My cat is called Tom. He is four years old. Thanks!';
const LOCAL = ['My cat is called Tom.', 'He is four years old.'];
/** Five tokens in and five out at a tenth of a cent each, and the margin of a twentieth. */
const COST = 10_500n;

const world = (fundsRaw = 50_000_000n) =>
  sellingMemory({ usual: 'test/words', inferModel: WORDS, fundsRaw });

async function inferred(w: Awaited<ReturnType<typeof world>>) {
  const told = await w.ingest([TEXT], {}, true);
  await w.indexer.idle();
  const [{ id }] = told.body.result.data.results;
  const status = await w.ask(w.agentId, 'status', { ids: [id] });
  const { id: _, ...standing } = status.body.result.data.statuses[0];
  return standing;
}

describe('facts that a chat model draws', () => {
  it('inferred facts become the chunks of a memory, one line each, at one cost in status and ledger', async () => {
    await using w = await world();
    const facts = ["The user's cat is\n called Tom.", 'The cat Tom is four years old.'];
    w.upstream.content = `\`\`\`json\n${JSON.stringify({ facts })}\n\`\`\``;
    expect(await inferred(w)).toEqual({
      status: 'completed',
      costRaw: `${COST}`,
      inferred_by: WORDS,
    });
    expect(await w.chunks()).toEqual(["The user's cat is called Tom.", facts[1]]);
    expect(await w.money()).toEqual({ consumed: COST, held: 0n });
    const [asked] = w.upstream.seen;
    expect(asked?.body).toMatchObject({ temperature: 0 });
    const messages = asked?.body.messages as { role: string; content: string }[];
    expect(JSON.parse(messages[1]?.content ?? '')).toEqual({ text: TEXT });
  });

  it('no chat model is called for a memory without infer', async () => {
    await using w = await world();
    await w.ingest([TEXT]);
    await w.indexer.idle();
    expect(await w.chunks()).toEqual([TEXT]);
    expect(w.upstream.seen).toEqual([]);
  });

  it.each([
    ['a sentence', 'I have no facts for you.'],
    ['JSON of another shape', '{"facts":"none"}'],
    ['no facts', '{"facts":[]}'],
    ['nothing that can be kept', '{"facts":[7,"","\\u0000"]}'],
    ['nesting without end', '{"facts":'.repeat(5_000)],
  ])(
    'the fixed rules infer the facts when the model returns %s, which is paid for all the same',
    async (_, content) => {
      await using w = await world();
      w.upstream.content = content;
      expect(await inferred(w)).toEqual({
        status: 'completed',
        inferred_by: 'local',
        infer_error: 'unreadable_answer',
        costRaw: `${COST}`,
      });
      expect(await w.chunks()).toEqual(LOCAL);
      expect(await w.money()).toEqual({ consumed: COST, held: 0n });
    },
  );

  it('the fixed rules infer the facts when the provider refuses or fails, or the balance is empty', async () => {
    for (const status of [400, 500]) {
      await using w = await world();
      w.upstream.faults.push({ kind: 'status', status });
      expect(await inferred(w)).toMatchObject({ status: 'completed', inferred_by: 'local' });
      expect(await w.chunks()).toEqual(LOCAL);
      expect(await w.money()).toEqual({ consumed: 0n, held: 0n });
    }
    await using poor = await world(0n);
    expect(await inferred(poor)).toEqual({
      status: 'completed',
      inferred_by: 'local',
      infer_error: 'insufficient_balance',
    });
    expect(await poor.chunks()).toEqual(LOCAL);
    expect(poor.upstream.seen).toEqual([]);
  });

  it('inferred facts are at most 64, each of at most a thousand characters, without duplicates', async () => {
    await using w = await world();
    const many = Array.from({ length: 80 }, (_, n) => `Fact number ${n}.`);
    w.upstream.content = JSON.stringify({ facts: ['x'.repeat(1_001), ...many, many[0]] });
    await inferred(w);
    expect(await w.chunks()).toEqual(many.slice(0, 64));
  });

  it('inferred facts and their vectors are bought once, whichever process continues', async () => {
    await using w = await sellingMemory({ inferModel: WORDS, fundsRaw: 50_000_000n });
    await w.indexer[Symbol.asyncDispose]();
    const doomed = await w.another({
      inferModel: WORDS,
      onStep: (at) => (at === 'embedded' ? new Promise<never>(() => {}) : undefined),
    });
    w.upstream.content = '{"facts":["Tom is a cat."]}';
    await w.ingest([TEXT], {}, true);
    doomed.indexer.wake();
    await expect.poll(async () => (await w.money())?.consumed).toBe(COST + COST / 2n);
    await w.due();
    const other = await w.another({ inferModel: WORDS });
    await other.indexer.tick();
    await other.indexer.idle();
    expect(await w.items()).toMatchObject([{ status: 'completed', costRaw: COST + COST / 2n }]);
    expect(await w.chunks()).toEqual(['Tom is a cat.']);
    expect(w.upstream.seen).toHaveLength(2);
  });
});
