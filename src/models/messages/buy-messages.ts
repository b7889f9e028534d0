import { newId } from '../../kernel/ids.ts';
import {
  type ChatDeps,
  chatPurchases,
  type DialectChat,
  reportedOf,
  withModel,
} from '../chat/chat-purchase.ts';
import { answerWhole, type Relayed } from '../purchase/answer.ts';
import { answerEvents, type StreamedAnswer } from '../purchase/answer-events.ts';
import { buy } from '../purchase/buy.ts';
import type { Buyer } from '../purchase/buyer.ts';
import { priceInBody } from '../purchase/price-in-usage.ts';
import type { AnyRail } from '../responses/responses-rails.ts';
import type { RoutingPreferences } from '../routing/routing-preferences.ts';
import { askForMessage, chatRailOf } from './ask-messages.ts';
import { leastAnswerOf, withMessagesCap } from './cap-messages.ts';
import { inMessagesWords } from './declined-words.ts';
import type { CompletionReading } from './from-chat/message-of-completion.ts';
import { knownName } from './known-name.ts';
import { measureMessages } from './measure-messages.ts';
import { MESSAGES_ENDING } from './messages-ending.ts';
import type { MessagesRequest } from './messages-request.ts';
import { PriceInMessageStream } from './price-in-message-stream.ts';
import { requirePricedMessages } from './require-priced.ts';

type MessagesPurchase = {
  readonly buyer: Buyer;
  readonly body: MessagesRequest;
  /** Headers of the caller that name the protocol's version and features, for an upstream of the same dialect. */
  readonly protocol: Readonly<Record<string, string>>;
  /** Routing preferences of the buyer: other models, and providers. Undefined: none. */
  readonly wishes?: RoutingPreferences | undefined;
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
  return {
    async create({ body: given, buyer, protocol, tellsCost = false, wishes }) {
      const body = withModel(given, knownName(deps.catalogue, given.model));
      const asked = {
        protocol,
        measured: measureMessages(body),
        spareId: newId(deps.random, ''),
      };
      const ofModel = (model: string) =>
        questionOf(withModel(body, knownName(deps.catalogue, model)), asked);
      const wanted = chatPurchases(deps, ofModel, buyer, { model: body.model, wishes });
      const bought = await buy(deps, buyer, wanted);
      if (bought.kind === 'unsold') return bought.answer;
      const { outcome } = bought;
      if ('stream' in outcome) {
        const events = tellsCost ? new PriceInMessageStream(outcome.stream) : outcome.stream;
        return answerEvents(deps, bought, events, MESSAGES_ENDING);
      }
      return answerWhole(bought, outcome, tellsCost ? priceInBody : undefined);
    },
  };
}

function questionOf(
  body: MessagesRequest,
  {
    measured: ofAny,
    protocol,
    spareId,
  }: Pick<MessagesPurchase, 'protocol'> &
    Pick<CompletionReading, 'spareId'> &
    Pick<DialectChat, 'measured'>,
): DialectChat<AnyRail> {
  const measured = withModel(ofAny, body.model);
  return {
    measured,
    leastOutputTokens: leastAnswerOf(body),
    reported: reportedOf,
    needsMarks: (rail) => chatRailOf(rail).messages !== undefined,
    requirePriced: () => requirePricedMessages(body),
    async ask(rail, call, outputCap, signal) {
      const asked = outputCap === undefined ? body : withMessagesCap(body, outputCap);
      const question = { asked, call, headers: protocol, measured, spareId };
      return inMessagesWords(await askForMessage(rail, question, signal));
    },
  };
}
