import { nowSeconds } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import {
  type ChatDeps,
  chatPurchases,
  type DialectChat,
  withModel,
} from '../chat/chat-purchase.ts';
import { gatewayErrors } from '../errors.ts';
import type { Relayed } from '../purchase/answer.ts';
import type { StreamedAnswer } from '../purchase/answer-events.ts';
import { buy } from '../purchase/buy.ts';
import type { Buyer } from '../purchase/buyer.ts';
import type { RoutingPreferences } from '../routing/routing-preferences.ts';
import { answerResponse, answerResponseEvents, type Keeping } from './answer-response.ts';
import { askRail, type RailRequest, type ResponseAnswer } from './ask-response.ts';
import type { ConnectionMemory } from './connection/connection-memory.ts';
import { readConversation } from './input-items.ts';
import { keepIn, rememberIn } from './keep-response.ts';
import type { KeptResponses } from './kept/kept-responses.ts';
import type { LiveResponses } from './live-responses.ts';
import { requirePricedResponse } from './priced-here.ts';
import { headOf } from './response-head.ts';
import type { AnyRail } from './responses-rails.ts';
import type { ResponsesRequest } from './responses-request.ts';
import { translateRequest } from './translate/translate-request.ts';

type ResponsePurchase = {
  readonly buyer: Buyer;
  readonly body: ResponsesRequest;
  /** Routing preferences of the buyer: other models, and providers. Undefined: none. */
  readonly wishes?: RoutingPreferences | undefined;
  /** Memory of the connection that the request came over. Undefined: the request came over HTTP. */
  readonly memory?: ConnectionMemory | undefined;
  /** True when the `usage` of the response also gets the price. */
  readonly tellsCost?: boolean;
};

/** Buys a response, with the guarantees of `ChatCompletions.complete`. */
export type BuyResponse = (purchase: ResponsePurchase) => Promise<Relayed | StreamedAnswer>;

type Deps = ChatDeps<AnyRail> & {
  readonly kept: KeptResponses;
  readonly live: LiveResponses;
};

/**
 * Creates the purchase of responses: with the bound, price and sources of the equivalent chat. A source that speaks the
 * Responses dialect gets the request in that dialect.
 */
export const createBuyResponse =
  (deps: Deps): BuyResponse =>
  async ({ body, buyer, memory, tellsCost = false, wishes }) => {
    requireForeground(body);
    const { asked, keeping } = await plan(deps, body, buyer, { memory, tellsCost });
    const { conversation } = asked;
    const { weighed } = asked.translated;
    const ofModel = (model: string): DialectChat<AnyRail, ResponseAnswer> => ({
      measured: withModel(weighed, model),
      needsMarks: ({ rail, speaks }) => speaks === 'chat' && rail.messages !== undefined,
      reported: (answer) => ('stream' in answer ? answer.stream.metered() : answer),
      requirePriced: () =>
        requirePricedResponse(body, [...conversation.before, ...conversation.own]),
      ask: (rail, call, outputCap, signal) => askRail(rail, asked, { call, outputCap }, signal),
    });
    const wanted = chatPurchases(deps, ofModel, buyer, { model: weighed.model, wishes });
    const bought = await buy(deps, buyer, wanted);
    if (bought.kind === 'unsold') return bought.answer;
    const { outcome } = bought;
    return 'stream' in outcome
      ? answerResponseEvents(deps, bought, outcome.stream, keeping)
      : answerResponse(deps, bought, outcome, keeping);
  };

/** Throws the refusal of a response in the background or of a stored conversation, which this server does not have. */
function requireForeground({ background, conversation }: ResponsesRequest): void {
  if (background === true) {
    throw gatewayErrors.invalidRequest(
      'This server makes no responses in the background; stream them instead.',
      'background',
    );
  }
  if (conversation !== undefined && conversation !== null) {
    throw gatewayErrors.invalidRequest(
      'This server has no conversations; go on with "previous_response_id".',
      'conversation',
    );
  }
}

async function plan(
  { clock, kept, random }: Pick<Deps, 'clock' | 'kept' | 'random'>,
  request: ResponsesRequest,
  { spender: { agentId } }: Buyer,
  { memory, tellsCost }: Pick<ResponsePurchase, 'memory'> & Pick<Keeping, 'tellsCost'>,
): Promise<{ readonly asked: RailRequest; readonly keeping: Keeping }> {
  const id = newId(random, 'resp_');
  const isKept = kept.isOpen && request.store !== false;
  const head = headOf(request, { createdSec: nowSeconds(clock), id, isKept });
  const conversation = await readConversation(kept, agentId, request, memory);
  const { before, own } = conversation;
  const translated = translateRequest(request, [...before, ...own]);
  if (translated.chat.messages.length === 0) {
    throw gatewayErrors.invalidRequest('There is nothing to answer: input is empty.', 'input');
  }
  const newItemId = (prefix: string) => newId(random, prefix);
  return {
    asked: {
      request,
      conversation,
      translated,
      translation: { head, names: translated.names, newItemId },
    },
    keeping: {
      id,
      agentId,
      keep: keepIn(kept, { agentId, conversation, newItemId, request }),
      remember: memory && rememberIn(memory, { id, conversation, newItemId }),
      tellsCost,
    },
  };
}
