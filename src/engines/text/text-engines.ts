import {
  type EmbeddedText,
  type EmbeddingEngine,
  EngineInputRefused,
  type GuideEngine,
  type TokenCounter,
} from '../engine.ts';
import { ENGINE_LIMITS } from '../limits.ts';
import { createFairQueue, type FairQueue } from '../threads/fair-queue.ts';
import type { WorkerClient } from '../threads/worker-client.ts';
import type { TextContract } from './text-worker.ts';
import { USE_LITE_DIMENSIONS } from './use-lite.ts';

/** Dependencies of the text engines; `client` calls the worker that computes embeddings and the guide's answers. */
type TextEngineDeps = {
  readonly client: WorkerClient<TextContract>;
  /** Throws EngineMissing when the engine's package was pruned. */
  readonly requirePresent: () => void;
  /** Queue in which agents wait for the worker. */
  readonly line?: FairQueue;
};

const {
  texts: embedTexts,
  textChars: embedTextChars,
  batch: embedBatch,
  batchChars: embedBatchChars,
} = ENGINE_LIMITS.embedding;

/**
 * Creates an embedding engine that sends texts in small batches, one after the other. Other work gets its turn between two
 * batches.
 */
export function createUseLite({
  client,
  requirePresent,
  line = createFairQueue(ENGINE_LIMITS.queue),
}: TextEngineDeps): EmbeddingEngine {
  return {
    async embed(texts, agentId) {
      requirePresent();
      if (texts.length > embedTexts) {
        throw new EngineInputRefused(`At most ${embedTexts} texts are embedded at a time.`);
      }
      if (texts.some((text) => text.length > embedTextChars)) {
        throw new EngineInputRefused(
          `A text to embed has at most ${embedTextChars} characters or tokens.`,
        );
      }
      const vectors: Float32Array[] = [];
      for (const batch of batches(texts)) {
        const all = await line.run(agentId, () => client.call('embed', batch));
        for (let from = 0; from < all.length; from += USE_LITE_DIMENSIONS) {
          vectors.push(all.subarray(from, from + USE_LITE_DIMENSIONS));
        }
      }
      return vectors;
    },
  };
}

/** Characters per token, about the average of English text. */
const CHARS_A_TOKEN = 4;

function batches(texts: readonly EmbeddedText[]): EmbeddedText[][] {
  const all: EmbeddedText[][] = [];
  let batch: EmbeddedText[] = [];
  let chars = 0;
  for (const text of texts) {
    const size = text.length * (typeof text === 'string' ? 1 : CHARS_A_TOKEN);
    if (batch.length > 0 && (batch.length === embedBatch || chars + size > embedBatchChars)) {
      all.push(batch);
      batch = [];
      chars = 0;
    }
    batch.push(text);
    chars += size;
  }
  return batch.length === 0 ? all : [...all, batch];
}

const { batchChars: countBatchChars, chars: countChars } = ENGINE_LIMITS.count;

/** Creates a token counter that sends a text in pieces, one after the other. Other work gets its turn between two pieces. */
export function createTokenCounter({
  client,
  requirePresent,
  line = createFairQueue(ENGINE_LIMITS.queue),
}: TextEngineDeps): TokenCounter {
  return {
    async count(text, agentId) {
      requirePresent();
      const counted = Math.min(text.length, countChars);
      let tokens = 0;
      for (let from = 0; from < counted; from += countBatchChars) {
        const piece = text.slice(from, Math.min(from + countBatchChars, counted));
        tokens += await line.run(agentId, () => client.call('count', piece));
      }
      return counted === text.length ? tokens : Math.ceil((tokens * text.length) / counted);
    },
  };
}

/** Creates the guide, which computes its answers in a worker thread. */
export function createGuide({
  client,
  requirePresent,
  line = createFairQueue(ENGINE_LIMITS.queue),
}: TextEngineDeps): GuideEngine {
  return {
    async reply({ agentId, ...request }) {
      requirePresent();
      return line.run(agentId, () => client.call('reply', request));
    },
  };
}
