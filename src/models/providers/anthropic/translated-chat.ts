import { isLongJson } from '../../../kernel/json/parse-json.ts';
import { turnForLongWork } from '../../../kernel/long-work.ts';
import type { ChatStream } from '../chat-rail.ts';
import type { OpenedAnswer } from '../open-answer.ts';
import { AnswerReader } from '../openai/answer-reader.ts';
import { RelayedChat } from '../openai/chat-stream.ts';
import { StreamTranslator } from './translate-stream.ts';

const DONE = Buffer.from('data: [DONE]\n\n');

/**
 * Reads an opened answer of the Messages dialect as a chat stream. Resolves when its first event is there. Rejects with
 * StreamBroken where it breaks before that.
 */
export async function translatedChat(
  answer: OpenedAnswer,
  options: {
    readonly createdSec: number;
    readonly servedAs?: string | undefined;
    readonly wantsUsage: boolean;
  },
): Promise<ChatStream> {
  const translator = new StreamTranslator(options.createdSec);
  const chat = new RelayedChat({ ...answer, body: translated(answer, translator) }, options);
  await chat.begin();
  return {
    next: () => chat.next(),
    stop: () => chat.stop(),
    // The input is known before the last event reports the whole usage.
    metered: () => translator.metered(),
  };
}

async function* translated(
  answer: OpenedAnswer,
  translator: StreamTranslator,
): AsyncGenerator<Uint8Array> {
  const requireWhole = () => {
    if (translator.state === 'failed') throw new Error(translator.failure ?? 'it failed');
  };
  const reader = new AnswerReader(answer);
  for (let piece = await reader.read(); piece !== undefined; piece = await reader.read()) {
    const events = translator.push(piece);
    // What a long event was turned into is read in another turn than the event.
    if (isLongJson(events)) await turnForLongWork();
    if (events.length > 0) yield events;
    requireWhole();
  }
  const rest = translator.end();
  if (rest.length > 0) yield rest;
  requireWhole();
  yield DONE;
}
