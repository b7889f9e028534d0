import { newId } from '../../kernel/ids.ts';
import { writeJsonInTurns } from '../../kernel/json/write-json.ts';
import { joinPieces } from '../../kernel/long-work.ts';
import type { StopSignal } from '../../kernel/stop-signal.ts';
import type { ChatRequest } from '../chat/chat-request.ts';
import { meterTokens } from '../chat/chat-usage.ts';
import { estimatePrompt } from '../chat/estimate-chat.ts';
import { withOwnCallIds } from '../chat/own-call-ids.ts';
import { forThinker, mustShowThoughts, type ThinkingWish } from '../chat/thoughts.ts';
import {
  type CallOrder,
  type ChatAnswer,
  type ChatDeps,
  type ChatQuestion,
  chatCall,
  reportedOf,
  wantInTurn,
  withModel,
} from '../chat/want-chat.ts';
import { UnfitRequest } from '../providers/anthropic/unfit-request.ts';
import type { ChatRail, MessagesCall, MessagesRail } from '../providers/chat-rail.ts';
import { failed, type Outcome } from '../providers/outcome.ts';
import { answerWhole, type Relayed } from '../purchase/answer.ts';
import { answerEvents, type StreamedAnswer } from '../purchase/answer-events.ts';
import { buy } from '../purchase/buy.ts';
import type { Buyer } from '../purchase/buyer.ts';
import { priceInBody } from '../purchase/price-in-usage.ts';
import type { RoutingWishes } from '../routing/routing-wishes.ts';
import { leastAnswerOf, withMessagesCap } from './cap-messages.ts';
import { inMessagesWords } from './declined-words.ts';
import { withoutForeignThoughts } from './foreign-thoughts.ts';
import { messageOfCompletion, type Reading } from './from-chat/message-of-completion.ts';
import { MessageStream } from './from-chat/message-stream.ts';
import { knownName } from './known-name.ts';
import { measureMessages } from './measure-messages.ts';
import { MESSAGES_ENDING } from './messages-ending.ts';
import type { MessagesRequest } from './messages-request.ts';
import { withOwnToolIds } from './own-tool-ids.ts';
import { PriceInMessageStream } from './price-in-message-stream.ts';
import { requirePricedMessages } from './require-priced.ts';
import { translateToChat } from './to-chat/translate-request.ts';

type MessagesPurchase = {
  readonly buyer: Buyer;
  readonly body: MessagesRequest;
  /** What the caller says of the protocol, for an upstream that speaks it. */
  readonly protocol: Readonly<Record<string, string>>;
  /** Other models and the providers that the buyer wishes. */
  readonly wishes?: RoutingWishes | undefined;
  /** The `usage` of the answer, or of its last `message_delta`, has the price as well. */
  readonly tellsCost?: boolean;
};

export interface MessagesGateway {
  /**
   * Answers in the Messages dialect, whole or while the answer comes. An upstream of that dialect gets the request as it is, any
   * other one a translation. Money is as with a chat completion. Throws the gateway's refusals.
   */
  create(purchase: MessagesPurchase): Promise<Relayed | StreamedAnswer>;
}

/** Buys messages the way chat completions are bought. */
export function createMessagesGateway(deps: ChatDeps<ChatRail>): MessagesGateway {
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
      const wanted = wantInTurn(deps, ofModel, buyer, { model: body.model, wishes });
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
  }: Pick<MessagesPurchase, 'protocol'> & Pick<Reading, 'spareId'> & Pick<ChatQuestion, 'measured'>,
): ChatQuestion {
  const measured = withModel(ofAny, body.model);
  return {
    measured,
    leastOutputTokens: leastAnswerOf(body),
    reported: reportedOf,
    needsMarks: ({ messages }) => messages !== undefined,
    requirePriced: () => requirePricedMessages(body),
    async ask(rail, call, outputCap, signal) {
      const asked = outputCap === undefined ? body : withMessagesCap(body, outputCap);
      const outcome =
        rail.messages === undefined
          ? await translated(rail, { asked, call, measured, spareId }, signal)
          : await relayed(rail.messages, { asked, call, headers: protocol }, signal);
      return inMessagesWords(outcome);
    },
  };
}

type Asked = { readonly asked: MessagesRequest; readonly call: CallOrder };

function relayed(
  rail: MessagesRail,
  { asked, call, headers }: Asked & Pick<MessagesCall, 'headers'>,
  signal: StopSignal,
): Promise<Outcome<ChatAnswer>> {
  const body = withOwnToolIds(withoutForeignThoughts(asked));
  const sent = { headers, ...chatCall(call, { body, servedAs: call.servedAs }) };
  return asked.stream === true ? rail.stream(sent, signal) : rail.complete(sent, signal);
}

/** A request that does not ask for thoughts wants none, in this dialect; how much is thought may be left to the model. */
function thinkingWish({ thinking }: MessagesRequest): ThinkingWish {
  if (thinking?.type === 'adaptive') return undefined;
  return thinking?.type === 'enabled' ? 'on' : 'off';
}

/** Asks an upstream of another dialect, and reads its answer as a message. */
async function translated(
  rail: ChatRail,
  {
    asked,
    call: given,
    measured,
    spareId,
  }: Asked & Pick<ChatQuestion, 'measured'> & Pick<Reading, 'spareId'>,
  signal: StopSignal,
): Promise<Outcome<ChatAnswer>> {
  const { signsCalls = false } = rail;
  let chat: ChatRequest;
  try {
    chat = withOwnCallIds(translateToChat(asked), signsCalls);
  } catch (error) {
    if (!(error instanceof UnfitRequest)) throw error;
    return { kind: 'unfit', detail: error.message, param: error.param };
  }
  const { servedAs, thinkingSwitch } = given;
  const thinker = { thoughts: rail.thoughts, thinkingSwitch };
  const wish = thinkingWish(asked);
  const wantsThoughts = wish !== 'off' || mustShowThoughts(chat, thinker);
  // The message names the model: the chat under it need not.
  const call = chatCall(given, { body: forThinker(chat, wish, thinker), servedAs: undefined });
  const tokensOf = (chars: number) => meterTokens(measured, { usage: null, answerChars: chars });
  if (asked.stream === true) {
    const outcome = await rail.stream(call, signal);
    if (outcome.kind !== 'completed') return outcome;
    const reading = { spareId, wantsThoughts, servedAs, signsCalls };
    const counted = { promptTokens: estimatePrompt(measured), tokensOf };
    return { ...outcome, stream: new MessageStream(outcome.stream, reading, counted) };
  }
  const outcome = await rail.complete(call, signal);
  if (outcome.kind !== 'completed') return outcome;
  const { answerChars, headers, kind, note, paidRaw, status, usage } = outcome;
  const used = usage ?? tokensOf(answerChars);
  const reading = { spareId, wantsThoughts, servedAs, signsCalls, usage: used };
  const message = await messageOfCompletion(outcome, reading);
  if (message === undefined) return failed('broken', 'not a completion', status);
  const bytes = await joinPieces(await writeJsonInTurns(message));
  return {
    kind,
    status,
    headers,
    paidRaw,
    body: bytes,
    contentType: 'application/json',
    usage,
    answerChars,
    note,
  };
}
