import { isObject, type Json } from '../../../src/kernel/json.ts';
import { begun, messageEvent } from '../message-events.ts';
import { DONE, usageEvent, wholeAnswer, wordEvents } from '../stream-upstream.ts';
import {
  bytesOf,
  chat,
  chatPrice,
  dataOf,
  eventsOf,
  type Goods,
  isCount,
  isPlain,
  NOTHING,
  PROMPT,
  parse,
  price,
  relayedOf,
} from './reckoning.ts';

const messages: Pick<
  Goods,
  'path' | 'modality' | 'rates' | 'wanted' | 'tagged' | 'used' | 'heldRaw'
> = {
  tagged: (run) => ({ stop_sequences: [String(run)] }),
  path: '/messages',
  modality: 'text',
  used: 120,
  rates: chat.rates,
  heldRaw: chat.heldRaw,
  wanted: chat.wanted,
};
const STREAM = {
  contentType: 'text/event-stream',
  isStream: true,
  wanted: { ...messages.wanted, stream: true },
};
const WHOLE = { contentType: 'application/json', isStream: false };

const messagePrice = (usage: unknown, answerLength: number): bigint => {
  const { input_tokens: input, output_tokens: output } = isObject(usage) ? usage : ({} as Json);
  return isCount(input) && isCount(output)
    ? price([input, 25], [output, 100])
    : price([Math.ceil(PROMPT.length / 4), 25], [Math.ceil(answerLength / 4), 100]);
};
const usageOf = (value: unknown) => ({ input_tokens: value, output_tokens: value });

/** Behind the events of the upstream stand the price, and the end or the error. */
const OURS =
  /(?:: svc-cost-usdc=\d+\n\n)?event: (?:message_stop\ndata: \{"type":"message_stop"\}|error\ndata: \{.*\})\n\n$/;

const member = (value: unknown, name: string): Json =>
  isObject(value) && isPlain(value[name]) ? (value[name] as Json) : {};

/** What of a stream is relayed and what it comes to, read as its dialect has it. */
function readMessageEvents(sent: Buffer) {
  const relayed: string[] = [];
  let hasBegun = false;
  let hasReason = false;
  let usage: unknown;
  let length = 0;
  for (const event of eventsOf(sent)) {
    const [data] = relayedOf(event);
    if (data === undefined) continue;
    if (data === ':\n\n') {
      if (hasBegun) relayed.push(data);
      continue;
    }
    const told = dataOf(event);
    if (!isObject(told) || typeof told.type !== 'string') break;
    const { type } = told;
    if (type === 'message_start') hasBegun = true;
    if (!hasBegun || (type === 'message_stop' && hasReason)) break;
    if (type === 'message_delta') {
      hasReason = true;
      usage = told.usage;
    }
    const { text } = member(told, 'delta');
    if (typeof text === 'string') length += text.length;
    relayed.push(`event: ${type}\n${data}`);
  }
  return { relayed, usage, length, hasBegun };
}

const messageStream: Goods = {
  ...messages,
  ...STREAM,
  id: 'message-stream',
  name: 'message stream',
  dialect: 'anthropic',
  usageOf,
  answer: (words, usage) => [
    messageEvent('message_start', { message: begun }),
    messageEvent('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    ...words.map((text) =>
      messageEvent('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
    ),
    messageEvent('content_block_stop', { index: 0 }),
    messageEvent('message_delta', { delta: { stop_reason: 'end_turn' }, usage }),
    messageEvent('message_stop'),
  ],
  owed(sent) {
    const { hasBegun, length, relayed, usage } = readMessageEvents(sent);
    if (!hasBegun) return NOTHING;
    return { costRaw: messagePrice(usage, length), delivered: bytesOf(relayed) };
  },
  received: (bytes) => Buffer.from(bytes.toString('latin1').replace(OURS, ''), 'latin1'),
};

const messageWhole: Goods = {
  ...messages,
  ...WHOLE,
  id: 'whole-message',
  name: 'whole message',
  dialect: 'anthropic',
  usageOf,
  answer: (words, usage) => [
    JSON.stringify({ ...begun, content: [{ type: 'text', text: words.join('') }], usage }),
  ],
  owed(sent, hasEnded) {
    const told = hasEnded ? parse(sent.toString()) : undefined;
    if (!isObject(told) || !Array.isArray(told.content)) return NOTHING;
    const [{ text }] = told.content as [{ text: string }];
    return { costRaw: messagePrice(told.usage, text.length), delivered: sent };
  },
  received: (bytes) => bytes,
};

const textOf = (events: readonly unknown[]): Buffer =>
  Buffer.from(events.map((event) => String(member(event, 'delta').text ?? '')).join(''));

/** What it says, where its price stands in its usage as well, the same as in its comment. */
const pricedStream: Goods = {
  ...messageStream,
  id: 'priced-message',
  name: 'message stream with its price',
  wanted: { ...STREAM.wanted, usage: { include: true } },
  owed(sent, hasEnded) {
    const { costRaw, delivered } = messageStream.owed(sent, hasEnded);
    return { costRaw, delivered: delivered && textOf(eventsOf(delivered).map(dataOf)) };
  },
  received(bytes) {
    const text = bytes.toString('latin1');
    const [, told] = /^: svc-cost-usdc=(\d+)$/m.exec(text) ?? [];
    const [, inUsage] = /"cost_raw":"(\d+)"/.exec(text) ?? [];
    const isWhole = text.includes('event: message_stop');
    const isSame = isWhole ? inUsage === told : inUsage === undefined;
    return isSame ? textOf(eventsOf(bytes).map(dataOf)) : Buffer.from('another price in the usage');
  },
};

/** An upstream of the OpenAI dialect: what its client gets is compared by what is said. */
const translatedStream: Goods = {
  ...messages,
  ...STREAM,
  id: 'translated-stream',
  name: 'translated stream',
  usageOf: chat.usageOf,
  answer: (words, usage) => [
    ...wordEvents(words),
    ...(usage === undefined ? [] : [usageEvent(usage as object)]),
    DONE,
  ],
  owed(sent, hasEnded) {
    let text = '';
    let length = 0;
    let usage: unknown;
    let [isWhole, isAny] = [false, false];
    for (const event of eventsOf(sent)) {
      isWhole ||= /^data: ?\[DONE\]\s*$/m.test(event);
      if (isWhole) break;
      const data = dataOf(event);
      const told = isObject(data) && isPlain(data.usage) ? data.usage : undefined;
      if (isCount(told?.prompt_tokens) && isCount(told?.completion_tokens)) usage = told;
      const choices = isObject(data) ? (data.choices as { delta?: Json }[]) : [];
      isAny ||= (told === undefined || choices.length > 0) && relayedOf(event).length > 0;
      for (const { delta } of choices) {
        if (typeof delta?.content !== 'string') continue;
        text += delta.content;
        length += Buffer.byteLength(JSON.stringify(delta.content)) - 2;
      }
    }
    if (!(isAny || isWhole || (hasEnded && usage))) return NOTHING;
    return { costRaw: chatPrice(usage, length), delivered: Buffer.from(text) };
  },
  received: (bytes) => textOf(eventsOf(bytes).map(dataOf)),
};

const translatedWhole: Goods = {
  ...messages,
  ...WHOLE,
  id: 'translated-whole',
  name: 'translated whole',
  usageOf: chat.usageOf,
  answer: (words, usage) =>
    wholeAnswer({ content: words.join('') }, { usage }).pieces.map((piece) => String(piece)),
  owed(sent, hasEnded) {
    const told = hasEnded ? parse(sent.toString()) : undefined;
    if (!isObject(told) || !Array.isArray(told.choices)) return NOTHING;
    const [{ message }] = told.choices as [{ message: { content: string } }];
    const costRaw = chatPrice(told.usage, message.content.length);
    return { costRaw, delivered: Buffer.from(message.content) };
  },
  received(bytes) {
    const { content } = JSON.parse(bytes.toString()) as { content: { text: string }[] };
    return Buffer.from(content.map(({ text }) => text).join(''));
  },
};

export const MESSAGE_GOODS: readonly Goods[] = [
  messageStream,
  messageWhole,
  pricedStream,
  translatedStream,
  translatedWhole,
];
