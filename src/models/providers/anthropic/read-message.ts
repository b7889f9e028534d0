import { JSON_LIMITS } from '../../../kernel/json/limits.ts';
import { parseJsonInTurns } from '../../../kernel/json/parse-json-in-turns.ts';
import { isObject } from '../../../kernel/json.ts';
import type { Reported } from '../chat-rail.ts';
import { messageNote } from './message-note.ts';
import { readMessageUsage } from './message-usage.ts';
import { textMember } from './read-json.ts';
import { writeArguments } from './translate-answer.ts';

/** Reads the usage of a 2xx body. Undefined when the body is no message. */
export async function readMessage(body: Buffer): Promise<Reported | undefined> {
  const message = await parseJsonInTurns(body, JSON_LIMITS.upstream).catch(() => undefined);
  if (!isObject(message) || !Array.isArray(message.content)) return undefined;
  const usage = readMessageUsage(message.usage);
  const note = messageNote(message.model, message.stop_reason);
  return {
    usage,
    answerChars: usage === null ? answerLength(message.content) : 0,
    note: () => note,
  };
}

function answerLength(blocks: readonly unknown[]): number {
  let chars = 0;
  for (const block of blocks) {
    if (!isObject(block)) continue;
    chars += textMember(block, 'text').length + textMember(block, 'thinking').length;
    if (block.input === undefined) continue;
    chars += textMember(block, 'name').length + (writeArguments(block.input)?.length ?? 0);
  }
  return chars;
}
