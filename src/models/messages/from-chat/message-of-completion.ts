import { JSON_LIMITS } from '../../../kernel/json/limits.ts';
import { parseJsonInTurns } from '../../../kernel/json/parse-json-in-turns.ts';
import { isObject, type Json } from '../../../kernel/json.ts';
import { turnForLongWork } from '../../../kernel/long-work.ts';
import { contentText } from '../../chat/read-answer.ts';
import { signatureOf, signedId } from '../../chat/signed-call.ts';
import { textMember } from '../../providers/anthropic/read-json.ts';
import type { ChatCompletion, TokenUsage } from '../../providers/chat-rail.ts';
import { messageIdOf, readThoughts, toolIdOf } from './chat-words.ts';
import { messageUsage } from './message-usage.ts';
import { readArguments } from './read-arguments.ts';
import { stopReasonOf } from './stop-reason.ts';

/** Options for reading an answer of the OpenAI dialect as a message. */
export type CompletionReading = {
  /** Id of the message when the upstream gave the answer none. */
  readonly spareId: string;
  /** True when the caller requested thoughts. */
  readonly wantsThoughts: boolean;
  /** Name of the model for the caller. Undefined: the upstream's name. */
  readonly servedAs?: string | undefined;
  /** True when the upstream signs its calls, so that their ids carry the signatures. */
  readonly signsCalls?: boolean | undefined;
  /** Caller's names of tools whose names were shortened, by the shortened names. */
  readonly names?: ReadonlyMap<string, string> | undefined;
};

/** Translates the first choice of a completion to a message. Undefined when the completion has no choice. */
export async function messageOfCompletion(
  { body, json }: Pick<ChatCompletion, 'body' | 'json'>,
  { names, servedAs, signsCalls, spareId, wantsThoughts }: CompletionReading,
  usage: TokenUsage,
): Promise<Json | undefined> {
  const completion = json ?? (await readJson(body));
  const choices = isObject(completion) ? completion.choices : undefined;
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
  if (!isObject(completion) || !isObject(choice) || !isObject(choice.message)) return undefined;
  const id = messageIdOf(completion.id, spareId);
  const content = await blocksOf(choice.message, { id, names, signsCalls, wantsThoughts });
  const hasCalls = content.some(({ type }) => type === 'tool_use');
  return {
    id,
    type: 'message',
    role: 'assistant',
    model: servedAs ?? textMember(completion, 'model'),
    content,
    stop_reason: stopReasonOf(choice.finish_reason, hasCalls),
    stop_sequence: null,
    usage: messageUsage(usage),
  };
}

function readJson(body: Uint8Array): Promise<unknown> {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  return parseJsonInTurns(bytes, JSON_LIMITS.upstream).catch(() => undefined);
}

async function blocksOf(
  message: Json,
  {
    id,
    names,
    signsCalls,
    wantsThoughts,
  }: Pick<CompletionReading, 'names' | 'signsCalls' | 'wantsThoughts'> & { readonly id: string },
): Promise<Json[]> {
  const blocks: Json[] = [];
  let charsInTurn = 0;
  const thinking = wantsThoughts ? readThoughts(message) : '';
  if (thinking !== '') blocks.push({ type: 'thinking', thinking, signature: '' });
  for (const text of [contentText(message.content), textMember(message, 'refusal')]) {
    if (text !== '') blocks.push({ type: 'text', text });
  }
  const { tool_calls: calls } = message;
  for (const [index, call] of (Array.isArray(calls) ? (calls as unknown[]) : []).entries()) {
    const called = isObject(call) && isObject(call.function) ? call.function : undefined;
    if (!isObject(call) || called === undefined) continue;
    charsInTurn += textMember(called, 'arguments').length;
    if (charsInTurn > JSON_LIMITS.bytesPerTurn) {
      charsInTurn = 0;
      await turnForLongWork();
    }
    const own = toolIdOf(call.id, id, index);
    const name = textMember(called, 'name');
    blocks.push({
      type: 'tool_use',
      id: signsCalls === true ? signedId(own, signatureOf(call)) : own,
      name: names?.get(name) ?? name,
      input: await readArguments(called.arguments),
    });
  }
  return blocks;
}
