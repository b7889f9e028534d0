import { isObject } from '../../../src/kernel/json.ts';
import { MODEL_LIMITS } from '../../../src/models/limits.ts';
import { eventsOf as wholeEvents } from '../responses-upstream.ts';
import { chatStream } from './goods.ts';
import { chatPrice, dataOf, eventsOf, type Goods, isCount, NOTHING } from './reckoning.ts';

/** The words in the events that a client got, whatever the upstream of them spoke. */
function wordsIn(bytes: Buffer): Buffer {
  const words = eventsOf(bytes).map((event) => {
    const data = dataOf(event);
    const isWord = isObject(data) && data.type === 'response.output_text.delta';
    return isWord ? String(data.delta) : '';
  });
  return Buffer.from(words.join(''));
}

/** The words in the chunks of a chat. */
function wordsOfChat(chunks: Buffer): Buffer {
  const words = eventsOf(chunks).flatMap((event) => {
    const data = dataOf(event);
    const choices = isObject(data) ? data.choices : undefined;
    const list = Array.isArray(choices) ? (choices as { delta?: { content?: unknown } }[]) : [];
    return list.map(({ delta }) => (typeof delta?.content === 'string' ? delta.content : ''));
  });
  return Buffer.from(words.join(''));
}

const { messages: _, max_tokens, ...rest } = chatStream.wanted;
const wanted = { ...rest, input: 'Good morning?', max_output_tokens: max_tokens };

/** The request has no member of OpenAI's for the number of a run but `user`. */
const tagged = (run: number) => ({ user: String(run) });

/** Of an upstream that speaks chat: as much is owed as for the same chat. */
const translated: Goods = {
  ...chatStream,
  id: 'response-of-chat',
  name: 'response over chat',
  path: '/responses',
  wanted,
  tagged,
  owed(sent, hasEnded) {
    const { costRaw, delivered } = chatStream.owed(sent, hasEnded);
    return { costRaw, delivered: delivered && wordsOfChat(delivered) };
  },
  received: wordsIn,
};

const HEADS = ['response.created', 'response.in_progress'];
const ENDS = ['response.completed', 'response.incomplete', 'response.failed'];

/** Of an upstream that speaks Responses itself. */
const relayed: Goods = {
  ...chatStream,
  id: 'response',
  name: 'response',
  path: '/responses',
  wanted,
  provider: 'own',
  tagged,
  usageOf: (value: unknown) => ({ input_tokens: value, output_tokens: value, total_tokens: value }),
  answer: (words, usage) =>
    wholeEvents({ items: [{ say: words }], usage: usage as object }, {}, 1).map(
      ([type, fields], at) =>
        `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: at, ...fields })}\n\n`,
    ),
  owed(sent) {
    let [words, length, hasContent] = ['', 0, false];
    for (const event of eventsOf(sent)) {
      // A longer one breaks the stream.
      if (event.length > MODEL_LIMITS.upstream.sseEventBytes) break;
      const data = dataOf(event);
      if (!isObject(data) || typeof data.type !== 'string') continue;
      if (ENDS.includes(data.type)) {
        const { usage } = data.response as { usage?: unknown };
        const {
          input_tokens: input,
          output_tokens: output,
          total_tokens: total,
        } = isObject(usage) ? usage : {};
        const isTold = isCount(input) && isCount(output);
        const told = { prompt_tokens: input, completion_tokens: output, total_tokens: total };
        const costRaw = chatPrice(isTold ? told : undefined, isTold ? 0 : length);
        return { costRaw, delivered: Buffer.from(words) };
      }
      hasContent ||= data.type.startsWith('response.') && !HEADS.includes(data.type);
      if (typeof data.delta !== 'string') continue;
      words += data.delta;
      length += data.delta.length;
    }
    if (!hasContent) return NOTHING;
    // No more output is believed than was asked for, however long it is.
    const believed = Math.min(length, 4 * Number(max_tokens));
    return { costRaw: chatPrice(undefined, believed), delivered: Buffer.from(words) };
  },
  received: wordsIn,
};

export const RESPONSE_GOODS: readonly Goods[] = [translated, relayed];

const overSocket = (goods: Goods): Goods => ({
  ...goods,
  id: `${goods.id}-message`,
  name: `${goods.name} over a WebSocket`,
  isSocket: true,
});

/** The same over the connection of the WebSocket mode. */
export const CONNECTION_GOODS: readonly Goods[] = RESPONSE_GOODS.map(overSocket);
