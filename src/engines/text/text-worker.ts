import type { EmbeddedText, GuideReply } from '../engine.ts';
import { answerGuide, type GuideRequest } from '../guide/guide-answer.ts';
import { GUIDE_CORPUS } from '../guide/guide-corpus.ts';
import { createRetriever } from '../guide/guide-retrieve.ts';
import { serveWorker, workerOptions } from '../threads/worker-host.ts';
import { countTokens, readTokens } from './tokens.ts';
import { loadUseLite, USE_LITE_DIMENSIONS } from './use-lite.ts';

export type TextOptions = {
  /** False when the embedding packages were pruned. The guide then compares words only. */
  readonly useLite: boolean;
};

/** Calls of the worker that computes embeddings and the guide's answers: both use the same model. */
export type TextContract = {
  /** Embeds texts. The result holds all vectors in one array, one after the other. */
  readonly embed: { readonly in: readonly EmbeddedText[]; readonly out: Float32Array };
  readonly reply: { readonly in: GuideRequest; readonly out: GuideReply };
  readonly count: { readonly in: string; readonly out: number };
};

const { useLite } = workerOptions<TextOptions>();
let loaded: ReturnType<typeof loadUseLite> | undefined;

async function embed(texts: readonly string[]) {
  loaded ??= loadUseLite();
  return (await loaded)(texts);
}

const encoding = () => import('gpt-tokenizer/encoding/cl100k_base');

const textOf = async (text: EmbeddedText): Promise<string> =>
  typeof text === 'string' ? text : readTokens(await encoding(), text);

const retriever = createRetriever(GUIDE_CORPUS, useLite ? embed : undefined);

serveWorker<TextContract>({
  async embed(texts, transfer) {
    const all = new Float32Array(texts.length * USE_LITE_DIMENSIONS);
    const plain = await Promise.all(texts.map(textOf));
    for (const [index, vector] of (await embed(plain)).entries()) {
      all.set(vector, index * USE_LITE_DIMENSIONS);
    }
    transfer(all.buffer);
    return all;
  },
  async reply(request) {
    return answerGuide(request, retriever, await encoding());
  },
  async count(text) {
    return countTokens(await encoding(), text);
  },
});
