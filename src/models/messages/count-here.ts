import { EngineBusy, EngineMissing, type TokenCounter } from '../../engines/engine.ts';
import { isObject } from '../../kernel/json.ts';
import { tokensOf } from '../chat/estimate-chat.ts';
import { MODEL_LIMITS } from '../limits.ts';
import { measureMessages } from './measure-messages.ts';
import type { CountRequest } from './messages-request.ts';

/**
 * Estimates the tokens of a prompt: its text by an encoder that is close to most vendors' counts, images and files by number
 * and size. Without the encoder, text counts by its length.
 */
export async function countHere(
  tokens: TokenCounter,
  request: CountRequest,
  agentId: number,
): Promise<number> {
  const { messages, response_format: format, tools } = measureMessages(request);
  const texts: string[] = [];
  let opaque = messages.length * MODEL_LIMITS.tokens.perMessage;
  for (const { content } of messages) {
    for (const part of Array.isArray(content) ? (content as unknown[]) : []) {
      if (!isObject(part)) continue;
      const { file, text } = part;
      if (typeof text === 'string') texts.push(text);
      else if (isObject(file) && typeof file.file_data === 'string') {
        opaque += Math.ceil(file.file_data.length / MODEL_LIMITS.count.fileCharsPerToken);
      } else opaque += MODEL_LIMITS.count.imageTokens;
    }
  }
  for (const written of [tools, format]) {
    if (written !== undefined) texts.push(JSON.stringify(written));
  }
  return opaque + (await countText(tokens, texts.join('\n'), agentId));
}

async function countText(tokens: TokenCounter, text: string, agentId: number): Promise<number> {
  if (text === '') return 0;
  try {
    return await tokens.count(text, agentId);
  } catch (error) {
    if (error instanceof EngineBusy || error instanceof EngineMissing) return tokensOf(text.length);
    throw error;
  }
}
