import { describe, expect, it } from 'vitest';
import { readEmbeddings } from '../../../../../src/models/providers/openai/read-embeddings.ts';

const ONE = 'AACAPw==';
const TWO = 'AAAAQA==';

const list = (vectors: readonly unknown[], more: object = { usage: { prompt_tokens: 7 } }) =>
  Buffer.from(
    JSON.stringify({
      object: 'list',
      data: vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })),
      ...more,
    }),
  );

const read = (body: Buffer, encoding: 'float' | 'base64' = 'float', count = 2) =>
  readEmbeddings(body, { encoding, count });

describe('an answer with embeddings', () => {
  it('an embedding response with vectors in the requested encoding is passed on byte for byte', async () => {
    const floats = list([[1], [2]]);
    expect((await read(floats))?.body).toBe(floats);
    const texts = list([ONE, TWO]);
    expect((await read(texts, 'base64'))?.body).toBe(texts);
  });

  it('an embedding response with vectors in another encoding is rewritten and keeps its other members', async () => {
    const more = { odd: [1, { data: [] }], usage: { prompt_tokens: 7 } };
    const floats = await read(list([ONE, TWO], more), 'float');
    expect(JSON.parse(String(floats?.body))).toEqual(JSON.parse(String(list([[1], [2]], more))));
    const texts = await read(list([[1], [2]], more), 'base64');
    expect(JSON.parse(String(texts?.body))).toEqual(JSON.parse(String(list([ONE, TWO], more))));
    expect(texts?.promptTokens).toBe(7);
  });

  it('an embedding response’s prompt tokens are read when they are valid', async () => {
    const tokens = async (usage?: unknown) =>
      (await read(list([[1], [2]], { usage })))?.promptTokens;
    expect(await tokens({ prompt_tokens: 3, total_tokens: 4 })).toBe(3);
    expect(await tokens({ total_tokens: 4 })).toBe(4);
    for (const none of [
      undefined,
      null,
      'many',
      {},
      { prompt_tokens: -1 },
      { prompt_tokens: 1.5 },
    ]) {
      expect(await tokens(none)).toBeNull();
    }
  });

  it('an embedding response without exactly one vector per input is invalid', async () => {
    expect(await read(list([[1]]))).toBeUndefined();
    expect(await read(list([[1], [2], [3]]))).toBeUndefined();
    expect(await read(list([null, null]))).toBeUndefined();
    expect(await read(list(['AA==', 'AA==']))).toBeUndefined();
    expect(await read(list([[1], ['x']]), 'base64')).toBeUndefined();
  });

  it('an embedding response that is no object with a list is invalid', async () => {
    for (const none of [
      '',
      'x',
      '{"data":{"a":{},"b":{}}}',
      '{"data":[{},{}]',
      '{"data":[{,},{}]}',
    ]) {
      expect(await read(Buffer.from(none))).toBeUndefined();
    }
  });
});
