import { ConfigError } from '../../config/config.ts';
import { createFairLine } from '../../engines/threads/fair-line.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { startWorkers } from '../../kernel/schedule.ts';
import type { Teardown } from '../../kernel/teardown.ts';
import { localEmbedder } from '../../memory/embedder.ts';
import { startVectorIndex } from '../../memory/index/vector-index.ts';
import { Indexer } from '../../memory/indexing/indexer.ts';
import { createMemory } from '../../memory/memory.ts';
import { createMemoryWorkers } from '../../memory/memory-workers.ts';
import { fillInCommit } from '../../memory/pgvector/fill-vectors.ts';
import { createPgvectorSearch } from '../../memory/pgvector/pgvector-search.ts';
import { preparePgvector } from '../../memory/pgvector/prepare-pgvector.ts';
import { VectorKeeper } from '../../memory/pgvector/vector-keeper.ts';
import { SpaceLoader } from '../../memory/search/space-loader.ts';
import type { VoiceParts } from './build-voice.ts';
import type { World } from './world.ts';

/** The memory store of agents, and what indexes it. Rejects where the settings demand pgvector and it is missing. */
export async function buildMemory(world: World, { engines }: VoiceParts, teardown: Teardown) {
  const { metrics, sql } = world;
  const embedder = localEmbedder(engines);
  const index = teardown.use(
    'memory index',
    startVectorIndex({ ...world, ownerShare: LIMITS.memory.indexShare }),
  );
  const line = createFairLine(LIMITS.memory.line);
  const writes = createFairLine(LIMITS.memory.writes);
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
    new Indexer({ ...world, embedder, indexed, onChunks }),
  );
  const workers = createMemoryWorkers({ sql, indexer, loader });
  teardown.use('memory workers', startWorkers(world, [...workers, ...(keeper?.workers() ?? [])]));
  // It stops before the workers, which wait for what it is at.
  if (keeper !== undefined) teardown.use('memory vectors', keeper);
  metrics.watch(
    'svc_memory_index_bytes',
    'What is held of the vectors of memories.',
    () => index.bytes,
  );
  return { memory: createMemory({ ...world, embedder, loader, line, writes, indexer }) };
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
