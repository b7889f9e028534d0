import type { Clock } from '../../kernel/clock.ts';
import type { Catalogue, Dialect } from '../catalogue/catalogue.ts';
import { createAnthropicRail } from '../providers/anthropic/anthropic.ts';
import type { ChatRail } from '../providers/chat-rail.ts';
import { createOpenAiRail } from '../providers/openai/openai.ts';
import type { PaidCalls } from '../providers/paid-calls.ts';
import type { UpstreamLimits } from '../providers/upstream-pool.ts';
import { openRails, type Rails } from '../routing/open-rails.ts';

export type ChatRails = Rails<ChatRail>;

/** Constructors of chat rails, by dialect. */
const OPENERS: ReadonlyMap<Dialect, typeof createOpenAiRail> = new Map([
  ['openai', createOpenAiRail],
  ['anthropic', createAnthropicRail],
]);

/** Opens the rails of all providers that a chat model of the catalogue names. */
export function createChatRails(deps: {
  readonly catalogue: Catalogue;
  readonly localGuide: ChatRail;
  readonly clock: Clock;
  readonly limits?: Partial<UpstreamLimits>;
  readonly paidCalls?: PaidCalls | undefined;
}): ChatRails {
  const { catalogue, clock, limits, localGuide: local, paidCalls } = deps;
  return openRails<ChatRail>({
    catalogue,
    local,
    paidCalls,
    open: (dialect, upstream) => OPENERS.get(dialect)?.({ upstream, clock, limits }),
  });
}
