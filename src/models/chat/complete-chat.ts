import type { ChatRail } from '../providers/chat-rail.ts';
import { answerWhole, type Relayed } from '../purchase/answer.ts';
import { answerEvents, type StreamedAnswer } from '../purchase/answer-events.ts';
import { type BuyDeps, buy } from '../purchase/buy.ts';
import type { Buyer } from '../purchase/buyer.ts';
import { requirePriced } from '../routing/unpriced-features.ts';
import { withCap } from './bound-chat.ts';
import type { ChatRequest } from './chat-request.ts';
import { type ChatQuestion, wantChat } from './want-chat.ts';

type ChatPurchase = {
  readonly buyer: Buyer;
  readonly body: ChatRequest;
};

export interface ChatCompletions {
  /**
   * Answers whole, or while the answer comes where that is asked for: a client that leaves ends it, and pays for what came.
   * Throws the gateway's refusals. Nothing was charged then, but a payment that the refusal names.
   */
  complete(purchase: ChatPurchase): Promise<Relayed | StreamedAnswer>;
}

/** Buys chat completions: holds the most that one can cost, asks the cheapest source, settles to the use. */
export function createChatCompletions(deps: BuyDeps<ChatRail>): ChatCompletions {
  return {
    async complete({ body, buyer }) {
      const bought = await buy(deps, buyer, wantChat(deps, questionOf(body), buyer));
      if (bought.kind === 'unsold') return bought.answer;
      const { outcome } = bought;
      return 'stream' in outcome
        ? answerEvents(deps, bought, outcome.stream)
        : answerWhole(bought, outcome);
    },
  };
}

const questionOf = (body: ChatRequest): ChatQuestion => ({
  measured: body,
  requirePriced: () => requirePriced(body),
  ask(rail, asked, outputCap, signal) {
    const call = { ...asked, body: outputCap === undefined ? body : withCap(body, outputCap) };
    return body.stream === true ? rail.stream(call, signal) : rail.complete(call, signal);
  },
});
