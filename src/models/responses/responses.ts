import type { Json } from '../../kernel/json.ts';
import type { ChatDeps } from '../chat/chat-product.ts';
import { type BuyResponse, createBuyResponse } from './create-responses.ts';
import { responseErrors } from './errors.ts';
import type { Kept, KeptResponses } from './kept/kept-responses.ts';
import { type ItemPage, type ItemPageQuery, pageOf } from './list-items.ts';
import { LiveResponses } from './live-responses.ts';
import type { AnyRail } from './responses-rails.ts';

/** Buys, reads, continues, cancels and deletes responses. An agent sees only its own responses. */
export interface Responses {
  readonly create: BuyResponse;
  /** Returns a stored response, or one that is being streamed. Throws the refusal when there is none. */
  read(agentId: number, id: string): Promise<Json>;
  remove(agentId: number, id: string): Promise<Json>;
  /** Ends the stream of a response in this process. Throws the refusal when the response has ended or does not exist. */
  cancel(agentId: number, id: string): Promise<Json>;
  /** Lists the input items of a response, with the items of the earlier responses that are still kept. */
  inputItems(agentId: number, id: string, query: ItemPageQuery): Promise<ItemPage>;
}

export function createResponses(
  deps: ChatDeps<AnyRail> & { readonly kept: KeptResponses },
): Responses {
  const { kept } = deps;
  const live = new LiveResponses();

  async function require(agentId: number, id: string): Promise<Kept> {
    const found = await kept.find(agentId, id);
    if (found === undefined) throw responseErrors.notFound(id);
    return found;
  }

  return {
    create: createBuyResponse({ ...deps, live }),

    read: async (agentId, id) => live.find(agentId, id) ?? (await require(agentId, id)).response,

    async remove(agentId, id) {
      const wasLive = await live.remove(agentId, id);
      const wasKept = await kept.remove(agentId, id);
      if (!wasLive && !wasKept) throw responseErrors.notFound(id);
      return { id, object: 'response', deleted: true };
    },

    async cancel(agentId, id) {
      const cancelled = live.cancel(agentId, id);
      if (cancelled !== undefined && cancelled !== 'ended') return cancelled;
      if (cancelled === undefined) await require(agentId, id);
      throw responseErrors.notInProgress(id);
    },

    async inputItems(agentId, id, query) {
      const { input, response } = await require(agentId, id);
      const { previous_response_id: previous } = response;
      const before = typeof previous === 'string' ? await kept.rest(agentId, previous) : [];
      return pageOf([...before, ...input], query);
    },
  };
}
