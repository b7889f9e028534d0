import { describe, expect, it } from 'vitest';
import { GUIDE_CORPUS } from '../../../../src/engines/guide/guide-corpus.ts';
import { createRetriever } from '../../../../src/engines/guide/guide-retrieve.ts';

const byWords = createRetriever(GUIDE_CORPUS);

describe('guide retrieval', () => {
  it.each([
    ['what is my balance', 'balance'],
    ['tell me about x402', '402'],
    ['which voices do you have', 'rms'],
    ['what models are there', 'models route'],
    ['do I get unused money back', 'given back'],
  ])('the guide finds an answer to "%s" by its words alone', async (question, part) => {
    expect(JSON.stringify((await byWords.find(question))?.answer)).toContain(part);
  });

  it('the guide finds no answer to a question outside its corpus', async () => {
    expect(await byWords.find('mary had a little lamb')).toBeUndefined();
    expect(await byWords.find('')).toBeUndefined();
  });

  it('the guide searches by meaning where it can, and embeds the corpus once', async () => {
    const embedded: number[] = [];
    const retriever = createRetriever(GUIDE_CORPUS, async (texts) => {
      embedded.push(texts.length);
      return texts.map((text) => Float32Array.of(/left|moolah/.test(text) ? 1 : 0, 1));
    });
    expect((await retriever.find('moolah'))?.answer).toEqual({ fact: 'balance' });
    await retriever.find('moolah');
    expect(embedded.slice(1)).toEqual([1, 1]);
  });

  it('the guide searches by words when the embedding engine fails', async () => {
    const retriever = createRetriever(GUIDE_CORPUS, () => Promise.reject(new Error('gone')));
    expect((await retriever.find('what is my balance'))?.answer).toEqual({ fact: 'balance' });
  });
});
