import { boundChat } from '../../gateway/bound-chat.ts';
import type { Model, Source } from '../../gateway/catalogue.ts';
import type { ChatRequest } from '../../gateway/chat-request.ts';
import { chatPriceRaw } from '../../gateway/chat-usage.ts';
import { holdForRaw, type Offers } from '../../gateway/plan-offers.ts';
import type { ChatRail, TokenUsage } from '../../rails/chat-rail.ts';
import { type Brain, LegFailed, type ReplyRequest } from '../realtime/legs.ts';
import type { SessionConfig } from '../realtime/session-config.ts';
import { type AskDeps, askSources } from './ask-sources.ts';
import { chatBody } from './chat-body.ts';
import { RailReply } from './rail-reply.ts';
import type { Tab } from './tab.ts';

export type RailBrainDeps = AskDeps & {
  readonly model: Model;
  /** Who sells it, cheapest first for a price. Throws the refusal where nobody does. */
  readonly offersOf: (priceRaw: (source: Source) => bigint) => Offers<ChatRail>;
  readonly agentId: number;
  /** What an ordinary turn's reserve has for an answer. */
  readonly reservedRaw: bigint;
  /** All of that reserve. */
  readonly reserveRaw: (config: SessionConfig) => bigint;
  readonly heldRaw: () => bigint;
  readonly tab: Tab;
};

type Begun = {
  readonly reply: RailReply;
  /** What it may come to is held. */
  readonly isAfforded: () => boolean;
};

type Speculation = Begun & {
  readonly stopping: AbortController;
  /** What was asked, to be compared with what is asked in the end. */
  readonly asked: string;
};

/** The most that an answer of so many tokens costs wherever it is bought. */
export const dearestChatRaw = (offersOf: RailBrainDeps['offersOf'], tokens: TokenUsage): bigint =>
  holdForRaw(offersOf((source) => chatPriceRaw(tokens, source)));

/** Any chat model of the catalogue, streamed from the cheapest source that delivers. */
export function createRailBrain(deps: RailBrainDeps): Brain {
  const { agentId, model, reservedRaw, reserveRaw, tab } = deps;
  let speculation: Speculation | undefined;
  let hasSpeculated = false;

  /** `isBeside`: nothing of the reserve is for it. */
  function start(request: ReplyRequest, body: ChatRequest, isBeside: boolean): Begun {
    const { config, signal } = request;
    const { tokens } = boundChat(body, model);
    let isAfforded = false;
    const open = async () => {
      if (body.messages.length === 0) {
        throw new LegFailed('nothing_to_answer', 'Nothing was said and there are no instructions.');
      }
      const offers = deps.offersOf((source) => chatPriceRaw(tokens, source));
      const mostRaw = holdForRaw(offers);
      const beyondRaw = isBeside ? mostRaw : mostRaw - reservedRaw;
      const asked = await askSources(deps, {
        ...{ offers, signal, floorRaw: beyondRaw > 0n ? reserveRaw(config) + beyondRaw : 0n },
        ask({ rail, source }) {
          isAfforded = true;
          const call = { agentId, heldRaw: deps.heldRaw(), body, model: source.upstreamModel };
          return rail.stream(call, signal);
        },
      });
      if (asked === undefined) return undefined;
      asked.share.line = reply;
      return { stream: asked.outcome.stream, source: asked.source };
    };
    const reply = new RailReply({ body, open, tab, signal });
    return { reply, isAfforded: () => isAfforded };
  }

  const bodyOf = (request: Omit<ReplyRequest, 'signal'>) => chatBody(model.id, request);

  function forget(): void {
    if (speculation === undefined) return;
    speculation.reply.isVain = true;
    speculation.stopping.abort();
    speculation = undefined;
  }

  function adopt(asked: string, signal: AbortSignal): RailReply | undefined {
    const begun = speculation;
    if (begun?.asked !== asked || begun.reply.hasFailed || !begun.isAfforded()) return undefined;
    speculation = undefined;
    signal.addEventListener('abort', () => begun.stopping.abort(), { once: true });
    if (signal.aborted) begun.stopping.abort();
    return begun.reply;
  }

  return {
    reply(request) {
      const body = bodyOf(request);
      hasSpeculated = false;
      const begun = adopt(JSON.stringify(body), request.signal);
      if (begun !== undefined) return begun;
      forget();
      return start(request, body, false).reply;
    },
    speculate(request) {
      if (hasSpeculated) return;
      hasSpeculated = true;
      const body = bodyOf(request);
      const stopping = new AbortController();
      const begun = start({ ...request, signal: stopping.signal }, body, true);
      speculation = { ...begun, stopping, asked: JSON.stringify(body) };
    },
    forgetSpeculation: forget,
  };
}
