import type { ChatStream } from '../chat-rail.ts';
import type { OpenedAnswer } from '../open-answer.ts';
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
  const chat = new RelayedChat({ ...answer, body: translated(answer.body, translator) }, options);
  await chat.begin();
  return {
    next: () => chat.next(),
    stop: () => chat.stop(),
    // The input is known before the last event reports the whole usage.
    metered: () => translator.metered(),
  };
}

async function* translated(
  body: AsyncIterable<Uint8Array>,
  translator: StreamTranslator,
): AsyncGenerator<Uint8Array> {
  const requireWhole = () => {
    if (translator.state === 'failed') throw new Error(translator.failure ?? 'it failed');
  };
  for await (const piece of body) {
    const events = translator.push(Buffer.from(piece));
    if (events.length > 0) yield events;
    requireWhole();
  }
  const rest = translator.end();
  if (rest.length > 0) yield rest;
  requireWhole();
  yield DONE;
}
