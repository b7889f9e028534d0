import { describe, expect, it } from 'vitest';
import {
  countInputs,
  type EmbeddingParameters,
} from '../../../../../src/models/providers/embedding-rail.ts';
import { createOpenAiEmbeddingRail } from '../../../../../src/models/providers/openai/openai-embedding.ts';
import { WRITES_ANY_DEPTH } from '../../../../support/deep-json.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';

const upstream = { baseUrl: 'http://127.0.0.1:1/v1', apiKey: null };
const open = (limits: { inFlight?: number } = {}) =>
  createOpenAiEmbeddingRail({ upstream, clock: new ManualClock(), limits });
const call = (more: object = {}) => ({
  model: 'm',
  body: { input: 'x', ...more } as EmbeddingParameters,
});

describe('an upstream of embeddings', () => {
  it('an OpenAI embedding rail accepts tokens and vectors of any size', async () => {
    await using rail = open();
    expect(rail.misfit({ input: [1, 2], dimensions: 7 })).toBeUndefined();
  });

  it('an OpenAI embedding rail sends no request beyond its limit or for a client that has left', async () => {
    const signal = new AbortController().signal;
    await using full = open({ inFlight: 0 });
    expect(await full.embed(call(), signal)).toMatchObject({ kind: 'failed', failure: 'busy' });
    await using rail = open();
    expect(await rail.embed(call(), AbortSignal.abort())).toEqual({ kind: 'aborted' });
  });

  it.skipIf(WRITES_ANY_DEPTH)(
    'an OpenAI embedding rail reports a request that cannot be serialized as unfit',
    async () => {
      await using rail = open();
      const nested = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`) as unknown;
      const outcome = await rail.embed(call({ nested }), new AbortController().signal);
      expect(outcome).toMatchObject({ kind: 'unfit', detail: expect.stringContaining('deep') });
    },
  );
});

describe('the number of vectors that an input asks for', () => {
  it('an embedding input needs one vector for a text or its tokens, else one per element', () => {
    const inputs = ['ab', [1, 2, 3], ['a', 'b'], [[1, 2, 3], [4]]];
    expect(inputs.map(countInputs)).toEqual([1, 1, 2, 2]);
  });
});
