import type { Clock } from '../../kernel/clock.ts';
import type { Catalogue, Source } from '../catalogue/catalogue.ts';
import type { ChatRail } from '../providers/chat-rail.ts';
import { createResponsesRail } from '../providers/responses/openai-responses.ts';
import type { ResponsesRail } from '../providers/responses/responses-rail.ts';
import type { UpstreamLimits } from '../providers/upstream-pool.ts';
import { openRails, type Rails } from '../routing/open-rails.ts';

/** Way to ask a source for a response: the Responses API when the source speaks it, else chat, which every source speaks. */
export type AnyRail =
  | { readonly speaks: 'responses'; readonly rail: ResponsesRail; readonly chat: ChatRail }
  | { readonly speaks: 'chat'; readonly rail: ChatRail };

/**
 * Opens the rails of responses: those of chat, except for providers with the Responses API. Closing them leaves the rails of
 * chat open.
 */
export function createResponsesRails(deps: {
  readonly catalogue: Catalogue;
  readonly chat: Pick<Rails<ChatRail>, 'railOf'>;
  readonly clock: Clock;
  readonly limits?: Partial<UpstreamLimits>;
}): Rails<AnyRail> {
  const { catalogue, chat, clock, limits } = deps;
  const own = openRails<ResponsesRail>({
    catalogue,
    open: (_, upstream) =>
      upstream.speaksResponses === true
        ? createResponsesRail({ upstream, clock, limits })
        : undefined,
  });
  return {
    railOf(source: Source): AnyRail | undefined {
      const other = chat.railOf(source);
      if (other === undefined) return undefined;
      const rail = own.railOf(source);
      return rail === undefined
        ? { speaks: 'chat', rail: other }
        : { speaks: 'responses', rail, chat: other };
    },
    [Symbol.asyncDispose]: () => own[Symbol.asyncDispose](),
  };
}
