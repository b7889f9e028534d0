import type { Clock } from '../../kernel/clock.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { EmbeddingRail } from '../providers/embedding-rail.ts';
import { createOpenAiEmbeddingRail } from '../providers/openai/openai-embedding.ts';
import type { PaidCalls } from '../providers/paid-calls.ts';
import type { UpstreamLimits } from '../providers/upstream-pool.ts';
import { openRails, type Rails } from '../routing/open-rails.ts';

export type EmbeddingRails = Rails<EmbeddingRail>;

/** The rails of all providers that an embedding model of the catalogue names. */
export function createEmbeddingRails(deps: {
  readonly catalogue: Catalogue;
  readonly local: EmbeddingRail;
  readonly clock: Clock;
  readonly limits?: Partial<UpstreamLimits>;
  readonly paidCalls?: PaidCalls | undefined;
}): EmbeddingRails {
  return openRails<EmbeddingRail>({
    catalogue: deps.catalogue,
    local: deps.local,
    paidCalls: deps.paidCalls,
    open: (dialect, upstream) =>
      dialect === 'openai' ? createOpenAiEmbeddingRail({ ...deps, upstream }) : undefined,
  });
}
