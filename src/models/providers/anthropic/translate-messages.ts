import { isObject, type Json } from '../../../kernel/json.ts';
import { ANTHROPIC_CALL_IDS, CallIds } from '../fit/call-ids.ts';
import type { CacheMark } from './cache-mark.ts';
import { CallArguments } from './call-arguments.ts';
import {
  type ContentBlock,
  isBlank,
  type TextBlock,
  translateContent,
  translateText,
} from './translate-content.ts';
import { unfit } from './unfit-request.ts';

type ToolUseBlock = {
  readonly type: 'tool_use';
  readonly id: string;
  readonly name: string;
  readonly input: Json;
};

type ToolResultBlock = CacheMark & {
  readonly type: 'tool_result';
  readonly tool_use_id: string;
  readonly content?: readonly ContentBlock[];
};

type Block = ContentBlock | ToolUseBlock | ToolResultBlock;

/** Consecutive content of one role. */
export type AnthropicTurn = {
  readonly role: 'user' | 'assistant';
  readonly content: readonly Block[];
};

export type AnthropicConversation = {
  readonly system: readonly TextBlock[];
  /** Turns whose roles alternate. */
  readonly turns: readonly AnthropicTurn[];
};

/**
 * Translates OpenAI messages into turns: instructions are collected separately, tool results go into the user's turns, and
 * neighbouring messages of one role become one turn, as the dialect requires.
 */
export function translateMessages(messages: unknown): AnthropicConversation {
  if (!Array.isArray(messages)) return unfit('messages must be a list.');
  const system: TextBlock[] = [];
  const calls: Calls = { ids: undefined, read: new CallArguments() };
  const turns: { role: AnthropicTurn['role']; content: Block[] }[] = [];
  const say = (role: AnthropicTurn['role'], blocks: readonly Block[]) => {
    if (blocks.length === 0) return;
    let turn = turns.at(-1);
    if (turn?.role !== role) {
      turn = { role, content: [] };
      turns.push(turn);
    }
    for (const block of blocks) turn.content.push(block);
  };

  for (const [index, message] of (messages as unknown[]).entries()) {
    const at = `messages[${index}]`;
    if (!isObject(message)) return unfit(`${at} must be an object.`);
    switch (message.role) {
      case 'system':
      case 'developer':
        for (const block of translateText(message.content, at)) system.push(block);
        break;
      case 'user':
        say('user', translateContent(message.content, at));
        break;
      case 'assistant':
        say('assistant', assistantBlocks(message, at, calls));
        break;
      case 'tool':
        say('user', [toolResult(message, at, calls)]);
        break;
      default:
        unfit(`${at}.role must be system, developer, user, assistant or tool.`);
    }
  }
  if (turns.length === 0) unfit('messages must hold something that a user or an assistant said.');
  trimEnd(turns.at(-1));
  return { system, turns };
}

/** Ids and arguments of the tool calls so far. */
type Calls = { ids: CallIds | undefined; readonly read: CallArguments };

function idsOf(calls: Calls): CallIds {
  calls.ids ??= new CallIds(ANTHROPIC_CALL_IDS);
  return calls.ids;
}

/**
 * Removes the white space at the end of the last assistant message, which the dialect refuses when the model continues that
 * message.
 */
function trimEnd(turn: { role: AnthropicTurn['role']; content: Block[] } | undefined): void {
  const last = turn?.role === 'assistant' ? turn.content.at(-1) : undefined;
  if (last?.type !== 'text') return;
  turn?.content.splice(-1, 1, { ...last, text: last.text.trimEnd() });
}

function assistantBlocks(message: Json, at: string, known: Calls): Block[] {
  if (isObject(message.audio)) unfit(`${at}.audio cannot be sent: this model takes no audio.`);
  if (isObject(message.function_call)) unfit(`${at}.function_call is not taken; use tool_calls.`);
  const blocks: Block[] = translateText(message.content, at);
  const { refusal, tool_calls: calls } = message;
  if (typeof refusal === 'string' && !isBlank(refusal))
    blocks.push({ type: 'text', text: refusal });
  if (calls === undefined || calls === null) return blocks;
  if (!Array.isArray(calls)) return unfit(`${at}.tool_calls must be a list.`);
  for (const [index, call] of (calls as unknown[]).entries()) {
    blocks.push(toolUse(call, `${at}.tool_calls[${index}]`, known));
  }
  return blocks;
}

function toolUse(call: unknown, at: string, calls: Calls): ToolUseBlock {
  const { id, function: called } = isObject(call) ? call : {};
  if (typeof id !== 'string') return unfit(`${at}.id must be a string.`);
  if (!isObject(called)) return unfit(`${at}.function is missing; no other calls are taken.`);
  const { name, arguments: text } = called;
  if (typeof name !== 'string') return unfit(`${at}.function.name must be a string.`);
  return { type: 'tool_use', id: idsOf(calls).call(id), name, input: calls.read.object(text) };
}

/** Translates a tool result. The dialect caches a result as a whole, so a mark of one part becomes the mark of the result. */
function toolResult(message: Json, at: string, calls: Calls): ToolResultBlock {
  const { tool_call_id: id } = message;
  if (typeof id !== 'string') return unfit(`${at}.tool_call_id must be a string.`);
  let mark: CacheMark = {};
  const content = translateContent(message.content, at).map(({ cache_control, ...block }) => {
    if (cache_control !== undefined) mark = { cache_control };
    return block;
  });
  const tool_use_id = idsOf(calls).result(id);
  return { type: 'tool_result', tool_use_id, ...(content.length > 0 && { content }), ...mark };
}
