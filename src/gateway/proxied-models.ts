import type { ChatRail } from '../rails/chat-rail.ts';
import type { EmbeddingRail } from '../rails/embedding-rail.ts';
import { anyModelOf } from './any-model.ts';
import type { BuyDeps } from './buy.ts';
import { createEmbeddings, type Embeddings } from './buy-embeddings.ts';
import { type ChatCompletions, createChatCompletions } from './complete-chat.ts';

export type ProxiedModels = {
  readonly chat: ChatCompletions;
  readonly embeddings: Embeddings;
};

/** What callers buy of any model with the key that comes with each request; what is stored is not used there. */
export function createProxiedModels(
  deps: Omit<BuyDeps<never>, 'rails' | 'providerKeys'>,
  rails: {
    readonly chat: BuyDeps<ChatRail>['rails'];
    readonly embeddings: BuyDeps<EmbeddingRail>['rails'];
  },
): ProxiedModels {
  const shared = {
    ...deps,
    keepsNames: true,
    providerKeys: { find: async () => undefined, noteUse: async () => {} },
  };
  const { catalogue } = deps;
  return {
    chat: createChatCompletions({
      ...{ ...shared, rails: rails.chat, catalogue: anyModelOf(catalogue, 'text') },
    }),
    embeddings: createEmbeddings({
      ...{ ...shared, rails: rails.embeddings, catalogue: anyModelOf(catalogue, 'embedding') },
    }),
  };
}
