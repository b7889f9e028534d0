import { createHash } from 'node:crypto';
import type { Worker } from 'node:worker_threads';
import { wordsOf } from '../../src/engines/text/words.ts';
import { createFairQueue } from '../../src/engines/threads/fair-queue.ts';
import { type Clock, systemClock } from '../../src/kernel/clock.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { systemRandom } from '../../src/kernel/random.ts';
import { type Embedder, type Embedders, embeddersOf } from '../../src/memory/embedder.ts';
import { createFairTurns } from '../../src/memory/index/fair-turns.ts';
import type { IndexContract } from '../../src/memory/index/index-worker.ts';
import type { Steps } from '../../src/memory/index/space.ts';
import { Spaces, spacesBounds } from '../../src/memory/index/spaces.ts';
import { createVectorIndex, type VectorIndex } from '../../src/memory/index/vector-index.ts';
import { Indexer } from '../../src/memory/indexing/indexer.ts';
import type { IndexingShop, IndexingStep } from '../../src/memory/indexing/indexing-deps.ts';
import type { OnChunks } from '../../src/memory/indexing/indexing-store.ts';
import { MEMORY_LIMITS } from '../../src/memory/limits.ts';
import { createMemory, type MemoryAnswer, type MemoryOp } from '../../src/memory/memory.ts';
import { SpaceLoader } from '../../src/memory/search/space-loader.ts';
import type { VectorSearch } from '../../src/memory/search/vector-search.ts';
import type { Sql } from '../../src/platform/postgres/sql.ts';
import { type TestDatabase, testDatabase } from './database.ts';
import { seedAgents } from './ledger-world.ts';

const DIMS = 64;

/** Texts are as near to each other as they have words in common; synonyms of this list count as one word. */
const MEANS: Readonly<Record<string, string>> = { car: 'automobile', automobiles: 'automobile' };

export function embedWords(text: string): Float32Array {
  const vector = new Float32Array(DIMS);
  for (const word of wordsOf(text)) {
    const hash = createHash('sha256').update(MEANS[word] ?? word);
    const bytes = hash.digest();
    for (let n = 0; n < 4; n++) vector[bytes.readUInt16LE(4 * n) % DIMS] = 1;
  }
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => value / length);
}

export const wordEmbedder: Embedder = {
  model: 'test/words',
  dims: DIMS,
  embed: async (texts) => texts.map(embedWords),
  missing: () => undefined,
};

/** The index without its thread, which takes longer to start than a test; and all the memory that it has. */
export function indexInThisThread(bounds = spacesBounds(INDEX_BYTES)) {
  let made: Spaces | undefined;
  const spaces = (): Spaces => {
    made ??= new Spaces(bounds);
    return made;
  };
  const turns = createFairTurns();
  const replyOf = <T>(value: T) => {
    return { value, bytes: spaces().bytes, evicted: spaces().takeEvicted() };
  };
  const inTurn = async <T>(key: number, begin: () => Steps<T>) =>
    replyOf(await turns.run(key, begin));
  const handlers: { readonly [M in keyof IndexContract]: Handler<IndexContract[M]> } = {
    open: ({ key, ...space }) => inTurn(key, () => spaces().open(key, space)),
    add: ({ key, rows }) => inTurn(key, () => spaces().add(key, rows)),
    remove: ({ ids, key }) => inTurn(key, () => spaces().remove(key, ids)),
    drop: ({ key }) => inTurn(key, () => spaces().drop(key)),
    search: ({ key, query }) => inTurn(key, () => spaces().search(key, query)),
  };
  const index = createVectorIndex(
    {
      inFlight: 0,
      thread: {} as Worker,
      call: (method, argument) => (handlers[method] as Handler)(argument) as never,
      async [Symbol.asyncDispose]() {},
    },
    bounds,
  );
  return { index, memory: () => Buffer.from(spaces().memory) };
}

const INDEX_BYTES = 8 * 1024 * 1024;
type Handler<C extends { in: unknown; out: unknown } = { in: unknown; out: unknown }> = (
  argument: C['in'],
) => Promise<C['out']>;

export type MemoryProcessOptions = {
  readonly embedder?: Embedder;
  /** In place of the embedder alone, with those who sell what is bought. */
  readonly selling?: { readonly embedders: Embedders; readonly shop: IndexingShop };
  readonly clock?: Clock;
  readonly index?: VectorIndex;
  /** What searches vectors, if it is not the index of the process. */
  readonly searchedBy?: (packed: VectorSearch) => VectorSearch;
  readonly onChunks?: OnChunks;
  readonly onStep?: (step: IndexingStep) => Promise<void> | void;
};

/** What a process has of the memory store, without the timers of its workers. */
export function memoryProcess(sql: Sql, options: MemoryProcessOptions = {}) {
  const { clock = systemClock, embedder = wordEmbedder, onChunks, onStep } = options;
  const line = createFairQueue(MEMORY_LIMITS.queue.reads);
  const writes = createFairQueue(MEMORY_LIMITS.queue.writes);
  const inThread = indexInThisThread();
  const { index = inThread.index } = options;
  const packed = new SpaceLoader({ sql, index, clock, line });
  const loader = options.searchedBy?.(packed) ?? packed;
  const deps = {
    sql,
    clock,
    random: systemRandom,
    log: silentLog,
    embedders: options.selling?.embedders ?? embeddersOf(embedder),
    shop: options.selling?.shop,
    models: options.selling?.shop.models,
    onChunks,
    onStep,
    indexed: { add() {} },
  };
  const indexer = new Indexer(deps);
  const memory = createMemory({ ...deps, loader, line, writes, indexer });
  const signal = new AbortController().signal;
  return {
    index,
    loader,
    indexer,
    memory,
    indexMemory: inThread.memory,
    ask: (agentId: number, op: MemoryOp, body: unknown): Promise<Asked> =>
      memory.run(op, { agentId }, body, signal) as Promise<Asked>,
  };
}

/** An answer whose body is read without further checks. */
export type Asked = Omit<MemoryAnswer, 'body'> & {
  readonly body: {
    readonly error?: string;
    readonly message?: string;
    readonly details?: readonly { readonly path: readonly unknown[]; readonly message: string }[];
    // biome-ignore lint/suspicious/noExplicitAny: what each operation answers is looked at by its test.
    readonly result: { readonly success: boolean; readonly data: any };
  };
};

/** The memory store with agents that no other world has, on a database of its own or on one that worlds share. */
export async function memoryWorld(
  options: MemoryProcessOptions & { readonly agents?: number; readonly shared?: TestDatabase } = {},
) {
  const database = options.shared ?? (await testDatabase(8));
  const { sql } = database;
  const agents = (await seedAgents(sql, options.agents ?? 2)).map(({ agentId }) => agentId);
  const [agentId = 0, otherId = 0] = agents;
  const first = memoryProcess(sql, options);
  const ask = first.ask;
  return {
    sql,
    agents,
    agentId,
    otherId,
    ...first,
    ask,
    /** The same store, in another process. */
    another: (more: MemoryProcessOptions = options) => memoryProcess(sql, more),
    /** Remembers texts and waits until they can be found. Answers their ids. */
    async remember(texts: readonly string[], more: Record<string, unknown> = {}, agent = agentId) {
      const memories = texts.map((text) => ({ text }));
      const answer = await ask(agent, 'ingest', { type: 'memory', memories, ...more });
      if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
      await first.indexer.idle();
      return (answer.body.result.data.results as { id: string }[]).map(({ id }) => id);
    },
    async [Symbol.asyncDispose]() {
      await first.indexer[Symbol.asyncDispose]();
      if (options.shared === undefined) await database[Symbol.asyncDispose]();
    },
  };
}
