import { copyDigits } from '../../kernel/json/digits.ts';
import type { Json } from '../../kernel/json.ts';
import type { StopSignal } from '../../kernel/stop-signal.ts';
import { withCap } from '../chat/bound-chat.ts';
import { meterTokens } from '../chat/chat-price.ts';
import {
  type ChatCallOptions,
  type ChatDialect,
  chatCall,
  type MeasuredBody,
} from '../chat/chat-product.ts';
import type { ChatRequest } from '../chat/chat-request.ts';
import { withOwnCallIds, withOwnId } from '../chat/own-call-ids.ts';
import { mayCarry } from '../chat/signed-call.ts';
import { forThinker } from '../chat/thoughts.ts';
import { readChat } from '../dialects/chat-reader.ts';
import type { ChatRail } from '../providers/chat-rail.ts';
import { withObjectArguments } from '../providers/fit/chat-arguments.ts';
import { inStrictOrder } from '../providers/fit/strict-order.ts';
import { failed, type Outcome } from '../providers/outcome.ts';
import type {
  ResponseEvents,
  ResponsesRail,
  WholeResponse,
} from '../providers/responses/responses-rail.ts';
import { isUnsealed, type ResponseConversation, sentItem } from './input-items.ts';
import { requirePricedResponse } from './priced-here.ts';
import type { AnyRail } from './responses-rails.ts';
import type { InputItem, ResponsesRequest } from './responses-request.ts';
import { withTakenMembers, withTakenSampling } from './translate/request-members.ts';
import type { TranslatedRequest } from './translate/translate-request.ts';
import {
  TranslatedResponse,
  type Translation,
  translateCompletion,
} from './translate/translated-response.ts';

export type ResponseAnswer = WholeResponse | { readonly stream: ResponseEvents };

/** One request in the forms for both kinds of rails. */
export type RailRequest = MeasuredBody & {
  readonly request: ResponsesRequest;
  readonly conversation: ResponseConversation;
  readonly translated: TranslatedRequest;
  readonly translation: Omit<Translation, 'estimate' | 'model'>;
};

/** Options of a call, with the cap of its answer's tokens. Undefined: the caller's own cap applies. */
type CappedCall = ChatCallOptions & { readonly outputCap: number | undefined };

/** Dialect of OpenAI's Responses API. An upstream that speaks it gets the caller's request, any other upstream a chat. */
export const RESPONSES: ChatDialect<RailRequest, AnyRail, ResponseAnswer> = {
  needsMarks: ({ rail, speaks }) => speaks === 'chat' && rail.messages !== undefined,
  reported: (answer) => ('stream' in answer ? answer.stream.metered() : answer),
  requirePriced: ({ conversation: { before, own }, request }) =>
    requirePricedResponse(request, [...before, ...own]),
  send: ({ rail, speaks }, asked, call, signal) =>
    speaks === 'responses'
      ? askInItsWords(rail, asked, call, signal)
      : askForChat(rail, asked, call, signal),
};

const THOUGHTS = 'reasoning.encrypted_content';

function askInItsWords(
  rail: ResponsesRail,
  { conversation, request, translation: { head } }: RailRequest,
  { model, outputCap, paymentMethod, servedAs }: CappedCall,
  signal: StopSignal,
): Promise<Outcome<ResponseAnswer>> {
  const { previous_response_id: previous = null, stream } = request;
  const { id, isKept } = head;
  const given: Json = request;
  // A copy that begins with its own member shares one hidden class with all other copies (0075).
  const body: Record<string, unknown> = copyDigits(given, { model, ...given });
  body.model = model;
  body.max_output_tokens = outputCap ?? request.max_output_tokens;
  body.store = false;
  body.previous_response_id = undefined;
  body.stream = stream === true;
  const items = inputOf(request, conversation);
  if (items !== undefined) body.input = items;
  const include = includesOf(request, isKept);
  if (include !== undefined) body.include = include;
  const call = {
    paymentMethod,
    body,
    dress(response: Record<string, unknown>): void {
      response.id = id;
      response.model = servedAs ?? response.model;
      response.store = isKept;
      response.previous_response_id = previous;
    },
  };
  return stream === true ? rail.stream(call, signal) : rail.respond(call, signal);
}

/**
 * Returns the items of the whole conversation to send; undefined when the input can be sent unchanged. Upstreams store nothing,
 * so unsealed thoughts and the ids of items that belong to them are left out. Calls get the ids of their own upstreams.
 */
function inputOf(
  { input }: ResponsesRequest,
  { before, own }: ResponseConversation,
): readonly InputItem[] | undefined {
  const isReferred = Array.isArray(input) && own.some((item, at) => item !== input[at]);
  const hasUnsealed = own.some(isUnsealed);
  const isSigned = own.some((item) => mayCarry(item.call_id));
  if (before.length === 0 && !isReferred && !hasUnsealed && !isSigned) return undefined;
  const came = new Set<unknown>(Array.isArray(input) && !hasUnsealed ? input : []);
  return [...before, ...own].flatMap((item): InputItem | readonly InputItem[] => {
    const sent = came.has(item) ? item : sentItem(item);
    return sent === undefined ? [] : withOwnId(sent, 'call_id');
  });
}

/**
 * Returns `include` with sealed thoughts added, or undefined when nothing is to be added. A kept response needs them because
 * the upstream keeps nothing; models that do not think refuse them.
 */
function includesOf(
  { include, reasoning }: ResponsesRequest,
  isKept: boolean,
): readonly string[] | undefined {
  const thinks = reasoning !== undefined && reasoning !== null;
  if (!isKept || !thinks || include?.includes(THOUGHTS) === true) return undefined;
  return [...(include ?? []), THOUGHTS];
}

async function askForChat(
  rail: ChatRail,
  {
    translated: { chat, misfit },
    request: { reasoning, stream },
    translation: { head, names, newItemId },
  }: RailRequest,
  asked: CappedCall,
  signal: StopSignal,
): Promise<Outcome<ResponseAnswer>> {
  if (misfit !== undefined) return { kind: 'unfit', ...misfit };
  // The response names the model; the chat that it is made from need not.
  const { chatMembers, signsCalls = false } = rail;
  const own = withOwnCallIds(withTakenMembers(chat, chatMembers), signsCalls);
  const taken = fitToVendor(own, rail, asked);
  const { outputCap, thinkingSwitch } = asked;
  const capped = outputCap === undefined ? taken : withCap(taken, outputCap);
  const wish = reasoning?.effort === 'none' ? 'off' : undefined;
  const body = forThinker(capped, wish, { thoughts: rail.thoughts, thinkingSwitch });
  const call = chatCall(asked, { body, servedAs: undefined });
  const model = asked.servedAs ?? asked.model;
  const estimate = (answerChars: number) => meterTokens(body, { usage: null, answerChars });
  const translation = { head, model, newItemId, names, estimate };
  if (stream === true) {
    const outcome = await rail.stream(call, signal);
    if (outcome.kind !== 'completed') return inItsMembers(outcome);
    const source = readChat(outcome.stream, rail);
    return { ...outcome, stream: new TranslatedResponse(source, translation) };
  }
  const outcome = await rail.complete(call, signal);
  if (outcome.kind !== 'completed') return inItsMembers(outcome);
  const { headers, kind, paidRaw, status } = outcome;
  const whole = await translateCompletion(outcome, { ...translation, signsCalls });
  if (whole === undefined) return failed('broken', 'not a completion', status);
  const { answerChars, echo, note, response, usage } = whole;
  return { kind, status, headers, paidRaw, response, echo, usage, answerChars, note };
}

/** Adapts a translated chat to vendors of the OpenAI dialect. The rail of the Messages dialect adapts its requests itself. */
function fitToVendor(
  chat: ChatRequest,
  { messages, strictOrder }: ChatRail,
  { sampling }: ChatCallOptions,
): ChatRequest {
  if (messages !== undefined) return chat;
  const sent = withObjectArguments(withTakenSampling(chat, sampling));
  return strictOrder === true ? inStrictOrder(sent) : sent;
}

/** Names of a chat request's members in a Responses request. */
const MEMBERS: readonly (readonly [RegExp, string])[] = [
  [/^messages\b.*/, 'input'],
  [/^response_format(\.json_schema)?\b/, 'text.format'],
  [/^max_(completion_)?tokens$/, 'max_output_tokens'],
  [/^reasoning_effort$/, 'reasoning.effort'],
];

/** Renames the parameter of a misfit from the chat member to the caller's member. */
function inItsMembers<T>(outcome: Outcome<T>): Outcome<never> {
  const { kind } = outcome;
  if (kind === 'completed') throw new Error('only what was not delivered is renamed');
  if (kind !== 'unfit') return outcome;
  let { param = 'messages' } = outcome;
  for (const [chat, response] of MEMBERS) param = param.replace(chat, response);
  return { ...outcome, param };
}
