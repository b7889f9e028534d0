import { createFairLine } from '../../engines/threads/fair-line.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { startWorkers } from '../../kernel/schedule.ts';
import type { Teardown } from '../../kernel/teardown.ts';
import { localEmbedder } from '../../memory/embedder.ts';
import { startVectorIndex } from '../../memory/index/vector-index.ts';
import { Indexer } from '../../memory/indexing/indexer.ts';
import { createMemory } from '../../memory/memory.ts';
import { createMemoryWorkers } from '../../memory/memory-workers.ts';
import { SpaceLoader } from '../../memory/search/space-loader.ts';
import type { VoiceParts } from './build-voice.ts';
import type { World } from './world.ts';

/** The memory store of agents, and what indexes it. */
export function buildMemory(world: World, { engines }: VoiceParts, teardown: Teardown) {
  const { metrics, sql } = world;
  const embedder = localEmbedder(engines);
  const index = teardown.use('memory index', startVectorIndex(world));
  const line = createFairLine(LIMITS.memory.line);
  const loader = new SpaceLoader({ ...world, index, line });
  const indexed = metrics.counter('svc_memory_items_total', 'Memories that were indexed.', [
    'outcome',
  ]);
  const indexer = teardown.use('memory indexer', new Indexer({ ...world, embedder, indexed }));
  teardown.use(
    'memory workers',
    startWorkers(world, createMemoryWorkers({ sql, indexer, loader })),
  );
  metrics.watch(
    'svc_memory_index_bytes',
    'What is held of the vectors of memories.',
    () => index.bytes,
  );
  return { memory: createMemory({ ...world, embedder, loader, line, indexer }) };
}
