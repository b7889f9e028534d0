import { describe, expect, it } from 'vitest';
import { EmbeddingRequest } from '../../../../src/models/embeddings/embedding-request.ts';
import { MODEL_LIMITS } from '../../../../src/models/limits.ts';

const read = (more: object) => EmbeddingRequest.safeParse({ model: 'a/b', input: 'x', ...more });
const issues = (more: object) => read(more).error?.issues ?? [];

describe('a request for embeddings', () => {
  it('an embedding request accepts a text, tokens, or a list of either', () => {
    const { inputs: embeddingInputs } = MODEL_LIMITS.embedding;
    const good = ['', 'a', ['a', ''], [1, 0], [[1], [2, 3]], Array(embeddingInputs).fill('a')];
    for (const input of good) expect(read({ input }).data?.input).toEqual(input);
    // As many tokens as there are; the body bounds them.
    expect(read({ input: Array(embeddingInputs + 1).fill(1) }).success).toBe(true);
  });

  it('an embedding request with any other input gets a single error, however long the input is', () => {
    const odd = [undefined, null, 5, {}, [], [[]], ['a', 1], [1, 'a'], [1.5], [-1], [[1], 'a']];
    for (const input of [...odd, Array(10_000).fill({}), [Array(10_000).fill('a')]]) {
      expect(issues({ input })).toMatchObject([{ path: ['input'], code: 'custom' }]);
    }
    const many = MODEL_LIMITS.embedding.inputs + 1;
    for (const input of [Array(many).fill('a'), Array(many).fill([1])]) {
      expect(issues({ input })).toMatchObject([{ message: expect.stringContaining('2048') }]);
    }
  });

  it('an embedding request checks its encoding and dimensions and keeps its other members', () => {
    expect(read({ encoding_format: 'base64', dimensions: 8, user: 'u', odd: [1] }).data).toEqual({
      model: 'a/b',
      input: 'x',
      encoding_format: 'base64',
      dimensions: 8,
      user: 'u',
      odd: [1],
    });
    expect(read({ encoding_format: null, dimensions: null }).success).toBe(true);
    for (const more of [
      { encoding_format: 'hex' },
      { dimensions: 0 },
      { dimensions: 1.5 },
      { dimensions: MODEL_LIMITS.embedding.dimensions + 1 },
      { model: '' },
    ]) {
      expect(issues(more)).toHaveLength(1);
    }
  });
});
