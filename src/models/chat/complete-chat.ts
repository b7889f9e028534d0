import type { ChatCompletion, ChatRail, ChatStream } from '../providers/chat-rail.ts';
import { answerWhole, type Relayed } from '../purchase/answer.ts';
import { answerEvents, type StreamedAnswer } from '../purchase/answer-events.ts';
import { type BuyDeps, buy } from '../purchase/buy.ts';
import type { Buyer } from '../purchase/buyer.ts';
import { requirePriced } from '../routing/unpriced-features.ts';
import type { ChatRequest } from './chat-request.ts';
import { wantChat } from './want-chat.ts';

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

type ChatAnswer = ChatCompletion | { readonly stream: ChatStream };

/** Buys chat completions: holds the most that one can cost, asks the cheapest source, settles to the use. */
export function createChatCompletions(deps: BuyDeps<ChatRail>): ChatCompletions {
  const { keepsNames, rails } = deps;
  return {
    async complete({ body, buyer }) {
      const wanted = wantChat<ChatRail, ChatAnswer>(
        {
          body,
          rails,
          keepsNames,
          ask: (rail, call) =>
            body.stream === true
              ? rail.stream(call, buyer.signal)
              : rail.complete(call, buyer.signal),
          reported: (answer) => ('stream' in answer ? answer.stream.metered() : answer),
          requirePriced: () => requirePriced(body),
        },
        buyer,
      );
      const bought = await buy(deps, buyer, wanted);
      if (bought.kind === 'unsold') return bought.answer;
      const { outcome } = bought;
      return 'stream' in outcome
        ? answerEvents(deps, bought, outcome.stream)
        : answerWhole(bought, outcome);
    },
  };
}
