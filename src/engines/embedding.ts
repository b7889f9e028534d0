import { LIMITS } from '../kernel/limits.ts';
import { type EmbeddingEngine, EngineInputRefused } from './engine.ts';
import type { TextContract } from './text-worker.ts';
import { USE_LITE_DIMENSIONS } from './use-lite.ts';
import type { WorkerClient } from './worker-client.ts';

export type EmbeddingDeps = {
  readonly client: WorkerClient<TextContract>;
  /** Throws EngineMissing where the engine's package was pruned. */
  readonly requirePresent: () => void;
};

const { embedTexts, embedTextChars, embedBatch } = LIMITS.engines;

/** Sends texts in small batches, one after the other, so that a long list does not hold the guide up. */
export function createUseLite({ client, requirePresent }: EmbeddingDeps): EmbeddingEngine {
  return {
    async embed(texts) {
      requirePresent();
      if (texts.length > embedTexts) {
        throw new EngineInputRefused(`At most ${embedTexts} texts are embedded at a time.`);
      }
      if (texts.some((text) => text.length > embedTextChars)) {
        throw new EngineInputRefused(`A text to embed has at most ${embedTextChars} characters.`);
      }
      const vectors: Float32Array[] = [];
      for (let at = 0; at < texts.length; at += embedBatch) {
        const all = await client.call('embed', texts.slice(at, at + embedBatch));
        for (let from = 0; from < all.length; from += USE_LITE_DIMENSIONS) {
          vectors.push(all.subarray(from, from + USE_LITE_DIMENSIONS));
        }
      }
      return vectors;
    },
  };
}
