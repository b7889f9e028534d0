import { encodeWav } from '../../../media/wav.ts';
import { isObject, type Json } from '../../../src/kernel/json.ts';
import { DONE, usageEvent, wholeAnswer, wordEvents } from '../stream-upstream.ts';
import { vectorList } from '../vector-list.ts';
import { MESSAGE_GOODS } from './message-goods.ts';
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
  parse,
  price,
  relayedOf,
} from './reckoning.ts';

/** Behind the events of the upstream stand the price, and the terminator or the error. */
const OURS = /(?:: svc-cost-usdc=\d+\n\n)?data: (?:\[DONE\]|\{"error":.*\})\n\n$/;
const withoutOurs = (bytes: Buffer) =>
  Buffer.from(bytes.toString('latin1').replace(OURS, ''), 'latin1');

type Message = { readonly delta?: Json; readonly message?: Json };

export const chatStream: Goods = {
  ...chat,
  id: 'chat-stream',
  name: 'chat stream',
  contentType: 'text/event-stream',
  isStream: true,
  wanted: { ...chat.wanted, stream: true },
  answer: (words, usage) => [
    ...wordEvents(words),
    ...(usage === undefined ? [] : [usageEvent(usage as object)]),
    DONE,
  ],
  owed(sent, hasEnded) {
    const relayed: string[] = [];
    let usage: unknown;
    let length = 0;
    let isWhole = false;
    for (const event of eventsOf(sent)) {
      if (/^data: ?\[DONE\]\s*$/m.test(event)) isWhole = true;
      if (isWhole) break;
      const data = dataOf(event);
      const choices = isObject(data) ? (data.choices as Message[]) : [];
      const told = isObject(data) && isPlain(data.usage) ? data.usage : undefined;
      if (isCount(told?.prompt_tokens) && isCount(told?.completion_tokens)) usage = told;
      if (told === undefined || choices.length > 0) relayed.push(...relayedOf(event));
      for (const { delta } of choices) {
        if (typeof delta?.content !== 'string') continue;
        length += Buffer.byteLength(JSON.stringify(delta.content)) - 2;
      }
    }
    if (relayed.length === 0 && !isWhole && !(hasEnded && usage)) return NOTHING;
    // The client did not ask for usage, and gets none that is null.
    const delivered = bytesOf(relayed.map((text) => text.replace(',"usage":null', '')));
    return { costRaw: chatPrice(usage, length), delivered };
  },
  received: withoutOurs,
};

const chatWhole: Goods = {
  ...chat,
  id: 'whole-chat',
  name: 'whole chat',
  contentType: 'application/json',
  isStream: false,
  answer: (words, usage) =>
    wholeAnswer({ content: words.join('') }, { usage }).pieces.map((piece) => String(piece)),
  owed(sent, hasEnded) {
    const told = hasEnded ? parse(sent.toString()) : undefined;
    if (!isObject(told) || !Array.isArray(told.choices)) return NOTHING;
    const [{ message }] = told.choices as [{ message: { content: string } }];
    return { costRaw: chatPrice(told.usage, message.content.length), delivered: sent };
  },
  received: (bytes) => bytes,
};

const TEXT = 'twelve chars';
const vectors: Goods = {
  id: 'embeddings',
  name: 'embeddings',
  path: '/embeddings',
  contentType: 'application/json',
  isStream: false,
  modality: 'embedding',
  rates: { text_input_token: '1000' },
  wanted: { input: TEXT },
  used: 5,
  heldRaw: price([TEXT.length, 10_000]),
  usageOf: (value) => ({ prompt_tokens: value, total_tokens: value }),
  answer: (words, usage) => {
    const list = vectorList({ usage: undefined, encoding: 'float' }, { input: TEXT });
    return [JSON.stringify({ ...list, model: words.join(''), usage })];
  },
  owed(sent, hasEnded) {
    const told = hasEnded ? parse(sent.toString()) : undefined;
    if (!isObject(told)) return NOTHING;
    const usage = isObject(told.usage) ? told.usage : {};
    const count = usage.prompt_tokens ?? usage.total_tokens;
    const tokens = isCount(count) ? count : Math.ceil(TEXT.length / 4);
    return { costRaw: price([tokens, 10_000]), delivered: sent };
  },
  received: (bytes) => bytes,
};

const SAID = 'Good day.';
const speechFile: Goods = {
  id: 'speech-file',
  name: 'speech file',
  path: '/audio/speech',
  contentType: 'audio/mpeg',
  isStream: false,
  modality: 'tts',
  rates: { character: '15' },
  wanted: { input: SAID, voice: 'alloy' },
  used: 0,
  heldRaw: price([SAID.length, 150]),
  usageOf: () => ({}),
  answer: (words) => [...words],
  owed: (sent) =>
    sent.length === 0 ? NOTHING : { costRaw: price([SAID.length, 150]), delivered: sent },
  received: (bytes) => bytes,
};

const soundOf = (events: readonly string[]): Buffer =>
  Buffer.concat(
    events.map((event) => {
      const data = dataOf(event);
      const isSound = isObject(data) && data.type === 'speech.audio.delta';
      return Buffer.from(isSound ? String(data.audio) : '', 'base64');
    }),
  );

const speechEvents: Goods = {
  id: 'speech-events',
  name: 'speech events',
  path: '/audio/speech',
  contentType: 'text/event-stream',
  isStream: true,
  modality: 'tts',
  rates: { text_input_token: '0.6', audio_output_token: '12' },
  wanted: { input: SAID, voice: 'alloy', stream_format: 'sse' },
  // Its bytes, and 1.2 seconds of 21 tokens each: twice as long as people usually take.
  used: 8,
  heldRaw: price([SAID.length, 6], [26, 120]),
  usageOf: (value) => ({ input_tokens: value, output_tokens: value }),
  answer: (words, usage) => [
    ...words.map((word) => {
      const audio = Buffer.from(word).toString('base64');
      return `data: ${JSON.stringify({ type: 'speech.audio.delta', audio })}\n\n`;
    }),
    `data: ${JSON.stringify({ type: 'speech.audio.done', usage })}\n\n`,
  ],
  owed(sent) {
    const events = eventsOf(sent);
    const sound = soundOf(events);
    if (sound.length === 0) return NOTHING;
    const last = events.map(dataOf).find((e) => isObject(e) && e.type === 'speech.audio.done');
    const usage = isObject(last) && isObject(last.usage) ? last.usage : {};
    const { input_tokens: input, output_tokens: output } = usage;
    const isTold = isCount(input) && isCount(output);
    // Nine bytes are 0.6 seconds of 21 tokens each, and three tokens of text.
    const costRaw = isTold ? price([input, 6], [output, 120]) : price([3, 6], [13, 120]);
    return { costRaw, delivered: sound };
  },
  received: (bytes) => soundOf(eventsOf(bytes)),
};

/** In milliseconds. */
const secondsOf = (told: unknown): number => {
  const { seconds } = isObject(told) ? told : {};
  const value = typeof seconds === 'string' && /^[\d.]+$/.test(seconds) ? +seconds : seconds;
  const isTold = typeof value === 'number' && value > 0 && value <= 172_800;
  return isTold ? Math.ceil(value * 1_000) : 1_200;
};
const perMs = (ms: number) => (BigInt(ms) * 105n + 999n) / 1_000n;
const hearing: Pick<Goods, 'path' | 'modality' | 'rates' | 'usageOf' | 'used' | 'heldRaw'> = {
  path: '/audio/transcriptions',
  modality: 'stt',
  rates: { audio_second: '100' },
  // The whole seconds of the recording.
  used: 2,
  heldRaw: perMs(2_000),
  usageOf: (value: unknown) => ({ type: 'duration', seconds: value }),
};
/** 1.2 seconds. */
export const RECORDING = encodeWav(new Int16Array(19_200), 16_000);

const transcriptStream: Goods = {
  ...hearing,
  id: 'transcript-stream',
  name: 'transcript stream',
  contentType: 'text/event-stream',
  isStream: true,
  wanted: { stream: 'true' },
  answer: (words, usage) => [
    ...words.map(
      (delta) => `data: ${JSON.stringify({ type: 'transcript.text.delta', delta })}\n\n`,
    ),
    `data: ${JSON.stringify({ type: 'transcript.text.done', text: words.join('').slice(0, 1e6), usage })}\n\n`,
  ],
  owed(sent) {
    const events = eventsOf(sent).flatMap(relayedOf);
    if (events.length === 0) return NOTHING;
    const last = events.map(dataOf).find((e) => isObject(e) && e.type === 'transcript.text.done');
    const usage = isObject(last) ? last.usage : undefined;
    return { costRaw: perMs(secondsOf(usage)), delivered: bytesOf(events) };
  },
  received: withoutOurs,
};

const transcriptWhole: Goods = {
  ...hearing,
  id: 'whole-transcript',
  name: 'whole transcript',
  contentType: 'application/json',
  isStream: false,
  wanted: {},
  answer: (words, usage) => [JSON.stringify({ text: words.join(''), usage })],
  owed(sent, hasEnded) {
    const told = hasEnded ? parse(sent.toString()) : undefined;
    if (!isObject(told)) return NOTHING;
    return { costRaw: perMs(secondsOf(told.usage)), delivered: sent };
  },
  received: (bytes) => bytes,
};

export const GOODS: readonly Goods[] = [
  ...MESSAGE_GOODS,
  chatStream,
  chatWhole,
  vectors,
  speechFile,
  speechEvents,
  transcriptStream,
  transcriptWhole,
];
