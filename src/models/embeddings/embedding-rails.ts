import type { EmbeddingRail } from '../providers/embedding-rail.ts';
import { createOpenAiEmbeddingRail } from '../providers/openai/openai-embedding.ts';
import { type OpenAiRailDeps, openOpenAiRails, type Rails } from '../routing/open-rails.ts';

/** Opens the rails of all providers that an embedding model of the catalogue names. */
export const createEmbeddingRails = (deps: OpenAiRailDeps<EmbeddingRail>): Rails<EmbeddingRail> =>
  openOpenAiRails(deps, createOpenAiEmbeddingRail);
