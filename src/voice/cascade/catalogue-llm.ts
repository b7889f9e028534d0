import type { OwnHold } from '../../engines/vad/own-hold.ts';
import { LightSignal } from '../../kernel/light-signal.ts';
import type { StopSignal } from '../../kernel/stop-signal.ts';
import { boundChat } from '../../models/chat/bound-chat.ts';
import { chatPriceRaw } from '../../models/chat/chat-price.ts';
import type { ChatRequest } from '../../models/chat/chat-request.ts';
import type { ChatRail, TokenUsage } from '../../models/providers/chat-rail.ts';
import { holdForRaw } from '../../models/routing/plan-offers.ts';
import type { Reserves } from '../billing/session-hold.ts';
import type { SessionConfig } from '../session/session-config.ts';
import { type Llm, type LlmRequest, StageFailed } from '../session/voice-pipeline.ts';
import { type AskSourcesDeps, askSources } from './ask-sources.ts';
import { CatalogueReply } from './catalogue-reply.ts';
import { chatBody } from './chat-body.ts';
import type { ModelBinding } from './model-binding.ts';

export type CatalogueLlmDeps = {
  readonly asking: AskSourcesDeps;
  readonly part: ModelBinding<ChatRail>;
  /** Returns the part of a turn's reserve that is for the answer. */
  readonly reserved: () => HoldReserve;
  /** Returns the whole reserve of a turn. */
  readonly reserves: (config: SessionConfig) => Reserves;
  /** Holds of the session in which the model answers. */
  readonly sessionHolds: OwnHold;
};

/** The amount that an ordinary turn needs for a stage, and the hold that pays it. */
export type HoldReserve = { readonly sessionHold: string; readonly raw: bigint };

type Begun = {
  readonly reply: CatalogueReply;
  /** Returns true when the cost of the answer is held. */
  readonly isAfforded: () => boolean;
  /** Marks the answer as requested, so that it is no longer speculative. */
  want(): void;
};

type Speculation = {
  readonly begun: Begun;
  readonly stopping: LightSignal;
  /** Request body, which is compared with the body of the requested response. */
  readonly asked: string;
};

/** Returns the hold and the upper bound of an answer's cost with `tokens`, at the sources that are tried first. */
export function dearestChat(part: ModelBinding<ChatRail>, tokens: TokenUsage): HoldReserve {
  const [{ offers, sessionHold }] = part.stages((source) => chatPriceRaw(tokens, source));
  return { sessionHold, raw: holdForRaw(offers) };
}

/** Returns the total that a hold needs when an answer may cost more than its reserve covers; 0 when the reserve suffices. */
function floorRaw(
  { reserved, reserves }: CatalogueLlmDeps,
  asked: {
    readonly config: SessionConfig;
    readonly isSpeculative: boolean;
    readonly mostRaw: bigint;
    readonly sessionHold: string;
  },
): bigint {
  const { config, isSpeculative, mostRaw, sessionHold } = asked;
  const { sessionHold: own, raw } = reserved();
  const beyondRaw = isSpeculative || own !== sessionHold ? mostRaw : mostRaw - raw;
  return beyondRaw > 0n ? (reserves(config)[sessionHold] ?? 0n) + beyondRaw : 0n;
}

/**
 * Begins an answer. `isSpeculative` is true for an answer that is not requested yet and that the reserve does not cover. It is
 * held quietly and no source is paid per call, so that a mere pause cannot suspend the agent.
 */
function begin(
  deps: CatalogueLlmDeps,
  body: ChatRequest,
  {
    config,
    isSpeculative,
    signal,
  }: Pick<LlmRequest, 'config' | 'signal'> & { isSpeculative: boolean },
): Begun {
  const { asking, part } = deps;
  const { tokens } = boundChat(body, part.model);
  let isAfforded = false;
  let isWanted = !isSpeculative;
  const open = async () => {
    if (body.messages.length === 0) {
      throw new StageFailed('nothing_to_answer', 'Nothing was said and there are no instructions.');
    }
    const asked = await askSources(asking, {
      part,
      signal,
      priceRaw: (source) => chatPriceRaw(tokens, source),
      holding(sessionHold, mostRaw) {
        isAfforded = false;
        return {
          floorRaw: floorRaw(deps, { config, isSpeculative, mostRaw, sessionHold }),
          isQuiet: !isWanted,
        };
      },
      ask({ rail, source }, paymentMethod) {
        isAfforded = true;
        const { agentId } = asking.spender;
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
    const { outcome, share, source, span } = asked;
    return { stream: outcome.stream, source, share, span, paidRaw: outcome.paidRaw };
  };
  const reply = new CatalogueReply({ body, most: tokens, open, signal });
  const want = () => {
    isWanted = true;
  };
  return { reply, isAfforded: () => isAfforded, want };
}

/** Creates an LLM from a chat model of the catalogue. It streams from the cheapest source that delivers. */
export function createCatalogueLlm(deps: CatalogueLlmDeps): Llm {
  const { model } = deps.part;
  let speculation: Speculation | undefined;
  let hasSpeculated = false;

  const bodyOf = (request: Omit<LlmRequest, 'signal'>) => chatBody(model.id, request);

  function forget(): void {
    if (speculation === undefined) return;
    speculation.begun.reply.isUnused = true;
    speculation.stopping.fire();
    speculation = undefined;
  }

  function adopt(body: ChatRequest, signal: StopSignal): CatalogueReply | undefined {
    if (speculation === undefined) return undefined;
    const { asked, begun, stopping } = speculation;
    if (begun.reply.hasFailed || !begun.isAfforded()) return undefined;
    if (asked !== JSON.stringify(body)) return undefined;
    speculation = undefined;
    begun.want();
    signal.addEventListener('abort', () => stopping.fire(), { once: true });
    if (signal.aborted) stopping.fire();
    return begun.reply;
  }

  return {
    reply(request) {
      const body = bodyOf(request);
      hasSpeculated = false;
      const begun = adopt(body, request.signal);
      if (begun !== undefined) return begun;
      forget();
      const { config, signal } = request;
      return begin(deps, body, { config, signal, isSpeculative: false }).reply;
    },
    speculate(request) {
      if (hasSpeculated) return;
      hasSpeculated = true;
      const body = bodyOf(request);
      const stopping = new LightSignal();
      const { config } = request;
      const begun = begin(deps, body, { config, signal: stopping, isSpeculative: true });
      speculation = { begun, stopping, asked: JSON.stringify(body) };
    },
    forgetSpeculation: forget,
  };
}
