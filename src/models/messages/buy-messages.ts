import { newId } from '../../kernel/ids.ts';
import { type ChatDeps, chatProduct, withModel } from '../chat/chat-product.ts';
import { PromptBeginnings } from '../chat/prompt-beginnings.ts';
import { answerWhole, type Relayed } from '../purchase/answer.ts';
import { answerEvents, type StreamedAnswer } from '../purchase/answer-events.ts';
import { buy } from '../purchase/buy.ts';
import type { Buyer } from '../purchase/buyer.ts';
import { priceInBody } from '../purchase/price-in-usage.ts';
import type { AnyRail } from '../responses/responses-rails.ts';
import type { RoutingPreferences } from '../routing/routing-preferences.ts';
import { MESSAGES } from './ask-messages.ts';
import { leastAnswerOf } from './cap-messages.ts';
import { knownName } from './known-name.ts';
import { measureMessages } from './measure-messages.ts';
import { MESSAGES_ENDING } from './messages-ending.ts';
import type { MessagesRequest } from './messages-request.ts';
import { PriceInMessageStream } from './price-in-message-stream.ts';

type MessagesPurchase = {
  readonly buyer: Buyer;
  readonly body: MessagesRequest;
  /** Headers of the caller that name the protocol's version and features, for an upstream of the same dialect. */
  readonly protocol: Readonly<Record<string, string>>;
  /** Routing preferences of the buyer: other models, and providers. Undefined: none. */
  readonly preferences?: RoutingPreferences | undefined;
  /** True when the `usage` of the answer, or of its last `message_delta`, also gets the price. */
  readonly tellsCost?: boolean;
};

export interface MessagesGateway {
  /**
   * Answers in the Messages dialect, whole or as a stream. An upstream of the dialect gets the request unchanged, any other
   * upstream a translation. Holds and charges as for a chat completion. Throws the gateway's refusals.
   */
  create(purchase: MessagesPurchase): Promise<Relayed | StreamedAnswer>;
}

/** Creates the gateway that buys messages, with the same steps as for chat completions. */
export function createMessagesGateway(deps: ChatDeps<AnyRail>): MessagesGateway {
  const product = chatProduct(deps, MESSAGES);
  const known = (name: string): string => knownName(deps.catalogue, name);
  return {
    async create({ body: given, buyer, preferences, protocol, tellsCost = false }) {
      const model = known(given.model);
      const request = withModel(given, model);
      const measured = measureMessages(request);
      const body = {
        request,
        headers: protocol,
        measured,
        beginnings: new PromptBeginnings(measured),
        leastOutputTokens: leastAnswerOf(request),
        spareId: newId(deps.random, ''),
      };
      const bought = await buy(deps, product, buyer, {
        model,
        body,
        preferences: preferences && { ...preferences, models: preferences.models.map(known) },
      });
      if (bought.kind === 'not_delivered') return bought.answer;
      const { outcome } = bought;
      if ('stream' in outcome) {
        const events = tellsCost ? new PriceInMessageStream(outcome.stream) : outcome.stream;
        return answerEvents(deps, bought, events, MESSAGES_ENDING);
      }
      return answerWhole(bought, outcome, tellsCost ? priceInBody : undefined);
    },
  };
}
