import { describe, expect, it } from 'vitest';
import { type EmbeddedText, EngineBusy } from '../../../../../src/engines/engine.ts';
import { ENGINE_LIMITS } from '../../../../../src/engines/limits.ts';
import type { EmbeddingParameters } from '../../../../../src/models/providers/embedding-rail.ts';
import { createLocalEmbeddingRail } from '../../../../../src/models/providers/local/local-embedding.ts';

function world(onBatch: () => void = () => {}) {
  const batches: (readonly EmbeddedText[])[] = [];
  const rail = createLocalEmbeddingRail({
    engine: {
      async embed(texts) {
        batches.push(texts);
        onBatch();
        return texts.map((text) => Float32Array.from([text.length, 0.5]));
      },
    },
  });
  const embed = async (body: EmbeddingParameters, signal = new AbortController().signal) => {
    const outcome = await rail.embed({ model: 'use-lite', body }, signal);
    const json =
      outcome.kind === 'completed' ? JSON.parse(Buffer.from(outcome.body).toString()) : undefined;
    return { outcome, json };
  };
  return { rail, embed, batches };
}

describe('the local encoder as a rail', () => {
  it('the local embedding rail returns an OpenAI list with the number of tokens that is billed', async () => {
    const { embed } = world();
    const { outcome, json } = await embed({ input: ['four', 'seven77'] });
    expect(json).toEqual({
      object: 'list',
      data: [
        { object: 'embedding', index: 0, embedding: [4, 0.5] },
        { object: 'embedding', index: 1, embedding: [7, 0.5] },
      ],
      model: 'use-lite',
      usage: { prompt_tokens: 3, total_tokens: 3 },
    });
    expect(outcome).toMatchObject({ status: 200, promptTokens: 3 });
  });

  it('the local embedding rail returns vectors in base64 on request', async () => {
    const { json } = await world().embed({ input: 'x', encoding_format: 'base64' });
    expect(json.data[0].embedding).toBe('AACAPwAAAD8=');
  });

  it('the local embedding rail calls the engine in batches, and stops when the client leaves', async () => {
    const { batch: embedBatch } = ENGINE_LIMITS.embedding;
    const leaving = new AbortController();
    const many = { input: Array<string>(3 * embedBatch).fill('x') };
    const whole = world();
    expect((await whole.embed(many)).json.data).toHaveLength(3 * embedBatch);
    expect(whole.batches.map(({ length }) => length)).toEqual(Array(3).fill(embedBatch));
    const left = world(() => leaving.abort());
    expect((await left.embed(many, leaving.signal)).outcome).toEqual({ kind: 'aborted' });
    expect(left.batches).toHaveLength(1);
  });

  it('the local embedding rail takes lists of tokens and counts each token', async () => {
    const { batches, embed } = world();
    expect((await embed({ input: [9, 9, 9] })).json).toMatchObject({
      data: [{ index: 0, embedding: [3, 0.5] }],
      usage: { prompt_tokens: 3 },
    });
    const many = await embed({ input: [[1], [2, 3]] });
    expect(many.json).toMatchObject({ data: [{ index: 0 }, { index: 1 }] });
    expect(many.outcome).toMatchObject({ promptTokens: 3 });
    expect(batches).toEqual([[[9, 9, 9]], [[1], [2, 3]]]);
  });

  it('the local embedding rail cuts vectors to the requested dimensions and normalizes them', async () => {
    const { embed } = world();
    const { json } = await embed({ input: ['four', 'seven77'], dimensions: 1 });
    expect(json.data.map(({ embedding }: { embedding: number[] }) => embedding)).toEqual([
      [1],
      [1],
    ]);
    const encoded = await embed({ input: 'x', dimensions: 1, encoding_format: 'base64' });
    expect(encoded.json.data[0].embedding).toBe('AACAPw==');
  });

  it('the local embedding rail refuses beforehand empty or long texts, foreign tokens and larger dimensions', () => {
    const { rail } = world();
    const param = (wanted: EmbeddingParameters) => rail.misfit(wanted)?.param;
    const long = 'x'.repeat(ENGINE_LIMITS.embedding.textChars);
    expect(param({ input: [100_277] })).toBe('input');
    expect(param({ input: [[1], [200_000]] })).toBe('input');
    expect(param({ input: Array<number>(ENGINE_LIMITS.embedding.textChars + 1).fill(1) })).toBe(
      'input',
    );
    expect(param({ input: [1] })).toBeUndefined();
    expect(param({ input: ['a', ''] })).toBe('input');
    expect(param({ input: `${long}x` })).toBe('input');
    expect(param({ input: 'a', dimensions: 513 })).toBe('dimensions');
    expect(param({ input: 'a', dimensions: 256 })).toBeUndefined();
    expect(param({ input: [long], dimensions: 512 })).toBeUndefined();
    expect(param({ input: 'a', dimensions: null })).toBeUndefined();
  });

  it('the local embedding rail fails as busy when the engine is busy', async () => {
    const { embed } = world(() => {
      throw new EngineBusy(1);
    });
    expect((await embed({ input: 'x' })).outcome).toMatchObject({ failure: 'busy' });
  });
});
