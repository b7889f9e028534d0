import { writeWhole } from '../../kernel/json/write-json.ts';
import type { Json } from '../../kernel/json.ts';
import type { StopSignal } from '../../kernel/stop-signal.ts';
import { meterTokens } from '../chat/chat-price.ts';
import {
  type ChatCallOptions,
  type ChatDialect,
  chatCall,
  type MeasuredBody,
} from '../chat/chat-product.ts';
import type { ChatRequest } from '../chat/chat-request.ts';
import { estimatePrompt } from '../chat/estimate-chat.ts';
import { withOwnCallIds } from '../chat/own-call-ids.ts';
import { type ChatAnswer, reportedOf } from '../chat/send-chat.ts';
import { forThinker, mustShowThoughts, type ThinkingPreference } from '../chat/thoughts.ts';
import { readChat } from '../dialects/chat-reader.ts';
import { MessageWriter } from '../dialects/message-writer.ts';
import { ResponseReader } from '../dialects/response-reader.ts';
import { WrittenStream } from '../dialects/written-stream.ts';
import { unfitOutcome } from '../providers/anthropic/unfit-request.ts';
import type {
  ChatCompletion,
  ChatRail,
  MessagesCall,
  MessagesRail,
} from '../providers/chat-rail.ts';
import { inStrictOrder } from '../providers/fit/strict-order.ts';
import { type Completed, failed, type Outcome } from '../providers/outcome.ts';
import type { ResponsesRail } from '../providers/responses/responses-rail.ts';
import type { AnyRail } from '../responses/responses-rails.ts';
import { withMessagesCap } from './cap-messages.ts';
import { inMessagesWords } from './declined-words.ts';
import { withoutForeignThoughts } from './foreign-thoughts.ts';
import { type CompletionReading, messageOfCompletion } from './from-chat/message-of-completion.ts';
import type { MessagesRequest } from './messages-request.ts';
import { withOwnToolIds } from './own-tool-ids.ts';
import { requirePricedMessages } from './require-priced.ts';
import { completionOfResponse } from './responses/completion-of-response.ts';
import { fitsResponses, translateToResponses } from './responses/translate-chat.ts';
import { cutNames } from './to-chat/cut-names.ts';
import { translateToChat } from './to-chat/translate-request.ts';

/** Body of a purchase of a message. */
type MessagesBody = MeasuredBody &
  Pick<MessagesCall, 'headers'> &
  Pick<CompletionReading, 'spareId'> & { readonly request: MessagesRequest };

/** Request for a message, as rails of every kind take it. */
type AskedMessages = Pick<MessagesBody, 'headers' | 'measured' | 'spareId'> & {
  readonly asked: MessagesRequest;
  readonly call: ChatCallOptions;
};

/** Returns the chat rail of the same source. */
const chatRailOf = (rail: AnyRail): ChatRail => (rail.speaks === 'chat' ? rail.rail : rail.chat);

/** Dialect of Anthropic's Messages API. */
export const MESSAGES: ChatDialect<MessagesBody, AnyRail, ChatAnswer> = {
  reported: reportedOf,
  needsMarks: (rail) => chatRailOf(rail).messages !== undefined,
  requirePriced: ({ request }) => requirePricedMessages(request),
  async send(rail, { headers, measured, request, spareId }, call, signal) {
    const { outputCap } = call;
    const asked = outputCap === undefined ? request : withMessagesCap(request, outputCap);
    const question = { asked, call, headers, measured, spareId };
    return inMessagesWords(await askForMessage(rail, question, signal));
  },
};

/**
 * Requests a message from one rail: unchanged from an upstream that speaks the Messages dialect, else as a response if the rail
 * and the request allow that, else as a chat.
 */
function askForMessage(
  rail: AnyRail,
  question: AskedMessages,
  signal: StopSignal,
): Promise<Outcome<ChatAnswer>> {
  const { messages } = chatRailOf(rail);
  return messages === undefined
    ? translated(rail, question, signal)
    : relayed(messages, question, signal);
}

function relayed(
  rail: MessagesRail,
  { asked, call, headers }: AskedMessages,
  signal: StopSignal,
): Promise<Outcome<ChatAnswer>> {
  const body = withOwnToolIds(withoutForeignThoughts(asked));
  const sent = { headers, ...chatCall(call, { body, servedAs: call.servedAs }) };
  return asked.stream === true ? rail.stream(sent, signal) : rail.complete(sent, signal);
}

/**
 * Returns the caller's preference for reasoning. A request without `thinking` wants none; `adaptive` leaves it to the model.
 */
function thinkingWish({ thinking }: MessagesRequest): ThinkingPreference {
  if (thinking?.type === 'adaptive') return undefined;
  return thinking?.type === 'enabled' ? 'on' : 'off';
}

/**
 * Sends the request to an upstream of another dialect and translates its answer to a message. An upstream with the Responses
 * API gets a response request when the request fits, because OpenAI's models take tools together with thinking only there.
 */
async function translated(
  rail: AnyRail,
  question: AskedMessages,
  signal: StopSignal,
): Promise<Outcome<ChatAnswer>> {
  const { asked, call } = question;
  const chatRail = chatRailOf(rail);
  const asksResponse = rail.speaks === 'responses' && fitsResponses(asked);
  const efforts = rail.speaks === 'chat' || asksResponse ? call.efforts : undefined;
  let chat: ChatRequest;
  try {
    const taken = { efforts, sampling: call.sampling };
    chat = withOwnCallIds(translateToChat(asked, taken), chatRail.signsCalls ?? false);
  } catch (error) {
    return unfitOutcome(error);
  }
  return asksResponse
    ? askForResponse(rail.rail, question, chat, signal)
    : askForChat(chatRail, question, chat, signal);
}

async function askForChat(
  rail: ChatRail,
  { asked, call: given, measured, spareId }: AskedMessages,
  chat: ChatRequest,
  signal: StopSignal,
): Promise<Outcome<ChatAnswer>> {
  const { servedAs, thinkingSwitch } = given;
  const thinker = { thoughts: rail.thoughts, thinkingSwitch };
  const wish = thinkingWish(asked);
  const wantsThoughts = wish !== 'off' || mustShowThoughts(chat, thinker);
  const names = cutNames(asked);
  const reading = { spareId, wantsThoughts, servedAs, signsCalls: rail.signsCalls ?? false, names };
  // The caller's message names the model; the chat made from it need not.
  const body = forThinker(rail.strictOrder === true ? inStrictOrder(chat) : chat, wish, thinker);
  const call = chatCall(given, { body, servedAs: undefined });
  if (asked.stream === true) {
    const outcome = await rail.stream(call, signal);
    if (outcome.kind !== 'completed') return outcome;
    const writer = new MessageWriter(reading, reckoningOf(measured));
    return { ...outcome, stream: new WrittenStream(readChat(outcome.stream, rail), writer) };
  }
  const outcome = await rail.complete(call, signal);
  return outcome.kind === 'completed' ? wholeMessage(outcome, reading, measured) : outcome;
}

async function askForResponse(
  rail: ResponsesRail,
  { asked, call: { model, paymentMethod, servedAs }, measured, spareId }: AskedMessages,
  chat: ChatRequest,
  signal: StopSignal,
): Promise<Outcome<ChatAnswer>> {
  const names = cutNames(asked);
  const reading = { spareId, wantsThoughts: thinkingWish(asked) !== 'off', servedAs, names };
  const call = { body: translateToResponses(chat, model), dress: withoutEcho, paymentMethod };
  if (asked.stream === true) {
    const outcome = await rail.stream(call, signal);
    if (outcome.kind !== 'completed') return outcome;
    const writer = new MessageWriter(reading, reckoningOf(measured));
    return { ...outcome, stream: new WrittenStream(new ResponseReader(outcome.stream), writer) };
  }
  const outcome = await rail.respond(call, signal);
  if (outcome.kind !== 'completed') return outcome;
  const { response, ...rest } = outcome;
  const json = completionOfResponse(response);
  const completion = { ...rest, json, body: NOTHING, contentType: JSON_TYPE };
  return wholeMessage(completion, reading, measured);
}

const NOTHING = new Uint8Array();
const JSON_TYPE = 'application/json';

/** Removes the instructions and tools that a response repeats from its request; a message has no such members. */
function withoutEcho(response: Record<string, unknown>): void {
  response.instructions = undefined;
  response.tools = undefined;
}

/** Estimates the tokens of an answer whose upstream reports no usage. */
const tokensOf = (measured: ChatRequest) => (chars: number) =>
  meterTokens(measured, { usage: null, answerChars: chars });

const reckoningOf = (measured: ChatRequest) => ({
  promptTokens: estimatePrompt(measured),
  tokensOf: tokensOf(measured),
});

async function wholeMessage(
  outcome: Completed<ChatCompletion>,
  reading: CompletionReading,
  measured: ChatRequest,
): Promise<Outcome<ChatCompletion>> {
  const { answerChars, headers, kind, note, paidRaw, status, usage } = outcome;
  const used = usage ?? tokensOf(measured)(answerChars);
  const message: Json | undefined = await messageOfCompletion(outcome, reading, used);
  if (message === undefined) return failed('broken', 'not a completion', status);
  const body = await writeWhole(message);
  // The members are listed one by one: V8 copies members after a spread slowly, one by one in its runtime.
  return {
    kind,
    status,
    headers,
    paidRaw,
    body,
    contentType: JSON_TYPE,
    usage,
    answerChars,
    note,
  };
}
