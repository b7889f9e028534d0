import type { OwnHold } from '../../engines/vad/own-hold.ts';
import { boundChat } from '../../models/chat/bound-chat.ts';
import type { ChatRequest } from '../../models/chat/chat-request.ts';
import { chatPriceRaw } from '../../models/chat/chat-usage.ts';
import type { ChatRail, TokenUsage } from '../../models/providers/chat-rail.ts';
import { holdForRaw } from '../../models/routing/plan-offers.ts';
import type { Reserves } from '../billing/session-holds.ts';
import type { SessionConfig } from '../protocols/openai-realtime/session-config.ts';
import { type Llm, type LlmRequest, StageFailed } from '../session/voice-pipeline.ts';
import { type AskDeps, askSources } from './ask-sources.ts';
import { BoughtReply } from './bought-reply.ts';
import { chatBody } from './chat-body.ts';
import type { ModelBinding } from './model-binding.ts';

export type BoughtLlmDeps = AskDeps & {
  readonly part: ModelBinding<ChatRail>;
  /** What an ordinary turn's reserve has for an answer. */
  readonly reserved: () => Reserve;
  /** All of that reserve. */
  readonly reserves: (config: SessionConfig) => Reserves;
  /** The money of its session. */
  readonly sessionHolds: OwnHold;
};

/** What is held out of one hold for a part of an ordinary turn. */
export type Reserve = { readonly sessionHold: string; readonly raw: bigint };

type Begun = {
  readonly reply: BoughtReply;
  /** What it may come to is held. */
  readonly isAfforded: () => boolean;
  /** The caller has asked for it. */
  want(): void;
};

type Speculation = Begun & {
  readonly stopping: AbortController;
  /** What was asked, to be compared with what is asked in the end. */
  readonly asked: string;
};

/** The most that an answer of so many tokens costs wherever it is bought. */
export function dearestChat(part: ModelBinding<ChatRail>, tokens: TokenUsage): Reserve {
  const [{ offers, sessionHold }] = part.stages((source) => chatPriceRaw(tokens, source));
  return { sessionHold, raw: holdForRaw(offers) };
}

/** What is to be held in a hold where an answer may come to more than its reserve has for one. */
function floorRaw(
  { reserved, reserves }: BoughtLlmDeps,
  asked: {
    readonly config: SessionConfig;
    readonly isBeside: boolean;
    readonly mostRaw: bigint;
    readonly sessionHold: string;
  },
): bigint {
  const { config, isBeside, mostRaw, sessionHold } = asked;
  const { sessionHold: own, raw } = reserved();
  const beyondRaw = isBeside || own !== sessionHold ? mostRaw : mostRaw - raw;
  return beyondRaw > 0n ? (reserves(config)[sessionHold] ?? 0n) + beyondRaw : 0n;
}

/**
 * Begins an answer. `isBeside`: the reserve does not cover it, since the client has not asked for it yet. What is held
 * for it until then is held quietly, and no seller is paid per call: a caller who only pauses must not stop his agent
 * by a cap that he has not come to.
 */
function begin(
  deps: BoughtLlmDeps,
  body: ChatRequest,
  { config, isBeside, signal }: Pick<LlmRequest, 'config' | 'signal'> & { isBeside: boolean },
): Begun {
  const { part, spender } = deps;
  const { tokens } = boundChat(body, part.model);
  let isAfforded = false;
  let isWanted = !isBeside;
  const open = async () => {
    if (body.messages.length === 0) {
      throw new StageFailed('nothing_to_answer', 'Nothing was said and there are no instructions.');
    }
    const asked = await askSources(deps, {
      part,
      signal,
      priceRaw: (source) => chatPriceRaw(tokens, source),
      holding(sessionHold, mostRaw) {
        isAfforded = false;
        return {
          floorRaw: floorRaw(deps, { config, isBeside, mostRaw, sessionHold }),
          isQuiet: !isWanted,
        };
      },
      ask({ rail, source }, paymentMethod) {
        isAfforded = true;
        const { agentId } = spender;
        const { heldRaw, spentRaw } = deps.sessionHolds;
        const call = {
          agentId,
          heldRaw,
          spentRaw,
          body,
          model: source.upstreamModel,
          paymentMethod,
        };
        return rail.stream(call, signal);
      },
    });
    if (asked === undefined) return undefined;
    const { outcome, share, source } = asked;
    return { stream: outcome.stream, source, share, paidRaw: outcome.paidRaw };
  };
  const reply = new BoughtReply({ body, most: tokens, open, signal });
  const want = () => {
    isWanted = true;
  };
  return { reply, isAfforded: () => isAfforded, want };
}

/** Any chat model of the catalogue, streamed from the cheapest source that delivers. */
export function createBoughtLlm(deps: BoughtLlmDeps): Llm {
  const { model } = deps.part;
  let speculation: Speculation | undefined;
  let hasSpeculated = false;

  const bodyOf = (request: Omit<LlmRequest, 'signal'>) => chatBody(model.id, request);

  function forget(): void {
    if (speculation === undefined) return;
    speculation.reply.isVain = true;
    speculation.stopping.abort();
    speculation = undefined;
  }

  function adopt(body: ChatRequest, signal: AbortSignal): BoughtReply | undefined {
    const begun = speculation;
    if (begun === undefined || begun.reply.hasFailed || !begun.isAfforded()) return undefined;
    if (begun.asked !== JSON.stringify(body)) return undefined;
    speculation = undefined;
    begun.want();
    signal.addEventListener('abort', () => begun.stopping.abort(), { once: true });
    if (signal.aborted) begun.stopping.abort();
    return begun.reply;
  }

  return {
    reply(request) {
      const body = bodyOf(request);
      hasSpeculated = false;
      const begun = adopt(body, request.signal);
      if (begun !== undefined) return begun;
      forget();
      return begin(deps, body, { ...request, isBeside: false }).reply;
    },
    speculate(request) {
      if (hasSpeculated) return;
      hasSpeculated = true;
      const body = bodyOf(request);
      const stopping = new AbortController();
      const { config } = request;
      const begun = begin(deps, body, { config, signal: stopping.signal, isBeside: true });
      speculation = { ...begun, stopping, asked: JSON.stringify(body) };
    },
    forgetSpeculation: forget,
  };
}
