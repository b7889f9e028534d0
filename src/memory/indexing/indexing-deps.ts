import type { Log } from '../../kernel/log.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import type { Counter } from '../../platform/tracing/metrics.ts';
import type { Tracer } from '../../platform/tracing/span.ts';
import type { Embedders } from '../embedder.ts';
import type { BuyOnceDeps } from '../purchase/buy-once.ts';
import type { Models } from '../purchase/models.ts';
import type { OnChunks } from './indexing-store.ts';

/** Models that indexing buys from, and the means to buy once. */
export type IndexingShop = Pick<BuyOnceDeps, 'random' | 'works'> & {
  readonly models: Models;
  /** Chat model that extracts facts from texts with `infer`. Undefined when fixed rules extract them. */
  readonly inferModel: string | undefined;
  readonly tracer?: Tracer | undefined;
};

/** Progress of indexing items: a test may hold it at a step, or end the process there. */
export type IndexingStep = 'claimed' | 'embedded' | 'completed';

export type IndexItemsDeps = {
  readonly sql: Sql;
  readonly log: Log;
  readonly embedders: Embedders;
  /** Models that the memory store may buy; undefined when none are offered. */
  readonly shop?: IndexingShop | undefined;
  /** Counts items by the outcome of their indexing: `completed`, `failed`, or `busy` when the engine had no room. */
  readonly indexed: Counter;
  /** Called in the commit that writes chunks, with the new version of their space. */
  readonly onChunks?: OnChunks | undefined;
  readonly onStep?: ((step: IndexingStep) => Promise<void> | void) | undefined;
};
