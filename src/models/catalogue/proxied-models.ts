import type { ChatDeps } from '../chat/chat-product.ts';
import { type ChatCompletions, createChatCompletions } from '../chat/complete-chat.ts';
import { createEmbeddings, type Embeddings } from '../embeddings/buy-embeddings.ts';
import type { ChatRail } from '../providers/chat-rail.ts';
import type { EmbeddingRail } from '../providers/embedding-rail.ts';
import type { BuyDeps } from '../purchase/buy.ts';
import { anyModelOf } from './any-model.ts';

export type ProxiedModels = {
  readonly chat: ChatCompletions;
  readonly embeddings: Embeddings;
};

/**
 * Creates chats and embeddings with any model, paid with the provider key in each request. Stored provider keys are ignored.
 */
export function createProxiedModels(
  deps: Omit<ChatDeps<never>, 'rails' | 'providerKeys'>,
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
      ...shared,
      rails: rails.chat,
      catalogue: anyModelOf(catalogue, 'text'),
    }),
    embeddings: createEmbeddings({
      ...shared,
      rails: rails.embeddings,
      catalogue: anyModelOf(catalogue, 'embedding'),
    }),
  };
}
