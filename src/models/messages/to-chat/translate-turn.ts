import type { Json } from '../../../kernel/json.ts';
import type { ChatRequest } from '../../chat/chat-request.ts';
import { textMember } from '../../providers/anthropic/read-json.ts';
import { writeArguments } from '../../providers/anthropic/translate-answer.ts';
import { isBlank } from '../../providers/anthropic/translate-content.ts';
import { unfit } from '../../providers/anthropic/unfit-request.ts';
import { shortName } from '../../providers/fit/tool-name.ts';
import type { MessagesRequest } from '../messages-request.ts';
import { isToolChange } from './offered-tools.ts';
import {
  isTextPart,
  joinTexts,
  type Part,
  placedBlocks,
  textPart,
  translateBlock,
} from './translate-blocks.ts';

type Turn = MessagesRequest['messages'][number];
type ChatMessage = ChatRequest['messages'][number];

/** Translates one turn into chat messages: several when the turn has results of tools. */
export function translateTurn({ content, role }: Turn, at: string): ChatMessage[] {
  const place = `${at}.content`;
  switch (role) {
    case 'system': {
      const text = joinTexts(content, place, '\n\n', isToolChange);
      return text === '' ? [] : [{ role, content: text }];
    }
    case 'assistant':
      return assistantMessage(content, place);
    case 'user':
      return userMessages(content, place);
  }
}

/**
 * Translates a turn of the assistant, with the text of its thoughts. Sealed thoughts and signatures mean nothing to another
 * model and are left out.
 */
function assistantMessage(content: unknown, at: string): ChatMessage[] {
  let text = '';
  let thoughts = '';
  const calls: Json[] = [];
  for (const [block, place] of placedBlocks(content, at)) {
    if (block.type === 'thinking') thoughts += textMember(block, 'thinking');
    else if (block.type === 'redacted_thinking') continue;
    else if (block.type === 'text') text += (textPart(block.text, place) as { text: string }).text;
    else if (block.type === 'tool_use') calls.push(toolCall(block, place));
    else unfit(`${place}.type has no place in a request to this model.`);
  }
  // A client returns blank texts of an answer; a blank text alone is left out.
  const said = isBlank(text) ? null : text;
  if (said === null && calls.length === 0) return [];
  return [
    {
      role: 'assistant',
      content: said,
      ...(thoughts !== '' && { reasoning_content: thoughts }),
      ...(calls.length > 0 && { tool_calls: calls }),
    },
  ];
}

function toolCall({ id, input, name }: Json, at: string): Json {
  if (typeof id !== 'string') return unfit(`${at}.id must be a string.`);
  if (typeof name !== 'string') return unfit(`${at}.name must be a string.`);
  const text = writeArguments(input);
  if (text === undefined) return unfit(`${at}.input is nested too deeply.`);
  return { id, type: 'function', function: { name: shortName(name), arguments: text } };
}

/**
 * Translates a user's turn. Tool results come first, because chat allows nothing between a call and its result. A result in
 * chat has only text: its images and files follow in a message of the user.
 */
function userMessages(content: unknown, at: string): ChatMessage[] {
  const results: ChatMessage[] = [];
  const parts: Part[] = [];
  for (const [block, place] of placedBlocks(content, at)) {
    if (block.type !== 'tool_result') parts.push(...translateBlock(block, place));
    else {
      const { message, others } = toolResult(block, place);
      results.push(message);
      parts.push(...others);
    }
  }
  const said = parts.filter((part) => !isTextPart(part) || !isBlank(part.text));
  if (said.length === 0) return results;
  const [first] = said;
  const isText = said.length === 1 && first !== undefined && isTextPart(first);
  return [...results, { role: 'user', content: isText ? first.text : said }];
}

function toolResult(
  { content, is_error: isError, tool_use_id: id }: Json,
  at: string,
): { readonly message: ChatMessage; readonly others: Part[] } {
  if (typeof id !== 'string') return unfit(`${at}.tool_use_id must be a string.`);
  const parts = placedBlocks(content, `${at}.content`).flatMap(([block, place]) =>
    translateBlock(block, place),
  );
  const text = parts
    .filter(isTextPart)
    .map((part) => part.text)
    .join('\n');
  const others = parts.filter((part) => !isTextPart(part));
  // Chat has no flag for a failed tool: a failure without a text gets the text `error`.
  const told = text === '' && isError === true ? 'error' : text;
  return { message: { role: 'tool', tool_call_id: id, content: told }, others };
}
