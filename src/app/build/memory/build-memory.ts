import { ConfigError } from '../../../config/config-error.ts';
import { createFairQueue } from '../../../engines/threads/fair-queue.ts';
import { createIdempotencyKeys } from '../../../idempotency/idempotency-store.ts';
import { IDEMPOTENCY_LIMITS } from '../../../idempotency/limits.ts';
import { startWorkers } from '../../../kernel/schedule.ts';
import type { Teardown } from '../../../kernel/teardown.ts';
import type { Node } from '../../../ledger/rules/node.ts';
import { embeddersOf, localEmbedder } from '../../../memory/embedder.ts';
import { startVectorIndex } from '../../../memory/index/vector-index.ts';
import { Indexer } from '../../../memory/indexing/indexer.ts';
import { MEMORY_LIMITS } from '../../../memory/limits.ts';
import { createMemory } from '../../../memory/memory.ts';
import { createMemoryWorkers } from '../../../memory/memory-workers.ts';
import { fillInCommit } from '../../../memory/pgvector/fill-vectors.ts';
import { createPgvectorSearch } from '../../../memory/pgvector/pgvector-search.ts';
import { preparePgvector } from '../../../memory/pgvector/prepare-pgvector.ts';
import { VectorKeeper } from '../../../memory/pgvector/vector-keeper.ts';
import type { Models } from '../../../memory/purchase/models.ts';
import { SpaceLoader } from '../../../memory/search/space-loader.ts';
import { findOwner } from '../../../payments/reservations/reservation-store.ts';
import type { VoiceParts } from '../build-voice.ts';
import { requireSoldModel } from '../require-sold-model.ts';
import type { World } from '../world.ts';
import { createMemoryModels, type MemoryModelDeps } from './memory-models.ts';

type MemoryParts = {
  readonly voice: VoiceParts;
  readonly node: Node;
  /**
   * Returns the gateway from which the store buys models. The gateway is built later, so the store calls this at the first
   * purchase.
   */
  readonly gateway: () => Pick<MemoryModelDeps, 'chat' | 'embeddings'>;
};

/**
 * Builds the memory store of agents and its indexing. Rejects when the settings require pgvector and the database lacks it, or
 * when they name models that the catalogue lacks.
 */
export async function buildMemory(world: World, parts: MemoryParts, teardown: Teardown) {
  const { metrics, sql } = world;
  const { embedders, models, shop } = buildShop(world, parts);
  const index = teardown.use(
    'memory index',
    startVectorIndex({ ...world, ownerShare: MEMORY_LIMITS.index.share }),
  );
  const line = createFairQueue(MEMORY_LIMITS.queue.reads);
  const writes = createFairQueue(MEMORY_LIMITS.queue.writes);
  const packed = new SpaceLoader({ ...world, index, line });
  const keeper = (await usesPgvector(world)) ? new VectorKeeper(world) : undefined;
  const loader =
    keeper === undefined ? packed : createPgvectorSearch({ sql, packed, line, keeper });
  const onChunks = keeper === undefined ? undefined : fillInCommit;
  const indexed = metrics.counter('svc_memory_items_total', 'Memories that were indexed.', [
    'outcome',
  ]);
  const indexer = teardown.use(
    'memory indexer',
    new Indexer({ ...world, embedders, shop, indexed, onChunks }),
  );
  const workers = createMemoryWorkers({ sql, indexer, loader });
  teardown.use('memory workers', startWorkers(world, [...workers, ...(keeper?.workers() ?? [])]));
  // The teardown stops the keeper first, because its worker waits for the step that the keeper is at.
  if (keeper !== undefined) teardown.use('memory vectors', keeper);
  metrics.watch(
    'svc_memory_index_bytes',
    'What is held of the vectors of memories.',
    () => index.bytes,
  );
  return { memory: createMemory({ ...world, embedders, models, loader, line, writes, indexer }) };
}

/** Builds the purchase of models for the work that the local engines cannot do. */
function buildShop(world: World, { gateway, node, voice }: MemoryParts) {
  const { catalogue, random, settings, sql, tracer } = world;
  const { embedding, infer } = settings.memoryModels;
  const usual =
    embedding && requireSoldModel(catalogue, 'MEMORY_EMBEDDING_MODEL', embedding, 'embedding');
  const inferModel = infer && requireSoldModel(catalogue, 'MEMORY_INFER_MODEL', infer, 'text');
  const sells = (model: string) => catalogue.find(model)?.modality === 'embedding';
  const models = lateModels(() =>
    createMemoryModels({
      ...gateway(),
      catalogue,
      findOwner: (agentId) => findOwner(sql, agentId),
    }),
  );
  const works = createIdempotencyKeys({ sql, node, windowMs: IDEMPOTENCY_LIMITS.windowMs });
  return {
    embedders: embeddersOf(localEmbedder(voice.engines), { usual, sells }),
    models,
    shop: { models, random, works, inferModel, tracer },
  };
}

/** Opens the models at their first use, because the gateway is built after the memory store. */
function lateModels(open: () => Models): Models {
  let opened: Models | undefined;
  const models = () => {
    opened ??= open();
    return opened;
  };
  return {
    embed: (purchase, keep) => models().embed(purchase, keep),
    answer: (purchase, keep) => models().answer(purchase, keep),
  };
}

async function usesPgvector({ log, settings, sql }: World): Promise<boolean> {
  const { memoryIndex } = settings;
  if (memoryIndex === 'packed') return false;
  const lacks = await preparePgvector(sql);
  if (lacks === undefined) return true;
  if (memoryIndex === 'pgvector') throw new ConfigError(`MEMORY_INDEX is pgvector, but ${lacks}`);
  log.info({ lacks }, 'memories are searched without pgvector');
  return false;
}
