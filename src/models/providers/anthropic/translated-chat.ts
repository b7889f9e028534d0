import { isLongJson } from '../../../kernel/json/parse-json.ts';
import { parseJsonInTurns } from '../../../kernel/json/parse-json-in-turns.ts';
import { LIMITS } from '../../../kernel/limits.ts';
import { turnForLongWork } from '../../../kernel/long-work.ts';
import type { ChatStream } from '../chat-rail.ts';
import type { OpenedAnswer } from '../open-answer.ts';
import { RelayedChat } from '../openai/chat-stream.ts';
import { dataOf } from '../openai/data-lines.ts';
import { jsonOf } from './read-json.ts';
import { StreamTranslator } from './translate-stream.ts';

const DONE = Buffer.from('data: [DONE]\n\n');

/**
 * Reads an opened answer of the Messages dialect as a chat stream. Resolves when the first event has arrived. Rejects with
 * StreamBroken when the answer breaks before that.
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
    // The first event has the input tokens; the last one reports the whole usage.
    metered: () => translator.metered(),
  };
}

async function* translated(
  answer: OpenedAnswer,
  translator: StreamTranslator,
): AsyncGenerator<Uint8Array> {
  const requireWhole = () => {
    if (translator.failure !== undefined) throw translator.failure;
  };
  let readInTurn = 0;
  for await (const piece of answer.body) {
    let chunks = '';
    for (const event of translator.push(Buffer.from(piece))) {
      if (++readInTurn > LIMITS.sseEventsPerTurn) {
        readInTurn = 0;
        await turnForLongWork();
      }
      const data = dataOf(event);
      if (data === undefined) continue;
      chunks += translator.translate(isLongJson(data) ? await readLong(data) : jsonOf(data));
    }
    if (chunks !== '') yield Buffer.from(chunks);
    requireWhole();
  }
  const rest = translator.end();
  if (rest !== '') yield Buffer.from(rest);
  requireWhole();
  yield DONE;
}

const readLong = (data: Buffer): Promise<unknown> =>
  parseJsonInTurns(data, LIMITS.upstreamJson).catch(() => undefined);
