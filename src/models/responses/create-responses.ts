import { nowSeconds } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { type ChatDeps, chatProduct } from '../chat/chat-product.ts';
import { PromptBeginnings } from '../chat/prompt-beginnings.ts';
import { gatewayErrors } from '../errors.ts';
import type { Relayed } from '../purchase/answer.ts';
import type { StreamedAnswer } from '../purchase/answer-events.ts';
import { buy } from '../purchase/buy.ts';
import type { Buyer } from '../purchase/buyer.ts';
import type { RoutingPreferences } from '../routing/routing-preferences.ts';
import { answerResponse, answerResponseEvents, type Keeping } from './answer-response.ts';
import { type RailRequest, RESPONSES } from './ask-response.ts';
import type { ConnectionMemory } from './connection/connection-memory.ts';
import { readConversation } from './input-items.ts';
import { keepIn, rememberIn } from './keep-response.ts';
import type { KeptResponses } from './kept/kept-responses.ts';
import type { LiveResponses } from './live-responses.ts';
import { headOf } from './response-head.ts';
import type { AnyRail } from './responses-rails.ts';
import type { ResponsesRequest } from './responses-request.ts';
import { translateRequest } from './translate/translate-request.ts';

type ResponsePurchase = {
  readonly buyer: Buyer;
  readonly body: ResponsesRequest;
  /** Routing preferences of the buyer: other models, and providers. Undefined: none. */
  readonly preferences?: RoutingPreferences | undefined;
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
export function createBuyResponse(deps: Deps): BuyResponse {
  const product = chatProduct(deps, RESPONSES);
  return async ({ body: request, buyer, memory, preferences, tellsCost = false }) => {
    requireForeground(request);
    const { body, keeping } = await plan(deps, request, buyer, { memory, tellsCost });
    const { model } = body.measured;
    const bought = await buy(deps, product, buyer, { model, body, preferences });
    if (bought.kind === 'not_delivered') return bought.answer;
    const { outcome } = bought;
    return 'stream' in outcome
      ? answerResponseEvents(deps, bought, outcome.stream, keeping)
      : answerResponse(deps, bought, outcome, keeping);
  };
}

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
): Promise<{ readonly body: RailRequest; readonly keeping: Keeping }> {
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
    body: {
      measured: translated.weighed,
      beginnings: new PromptBeginnings(translated.weighed),
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
