import { isObject, type Json } from '../../../src/kernel/json.ts';
import type { ModelEntry } from '../../../src/models/catalogue/builtin/builtin-model.ts';

/** What a client is owed when its upstream has sent so much. */
export type Owed = {
  readonly costRaw: bigint;
  /** The upstream's own bytes. Undefined: nothing was delivered, which is refused. */
  readonly delivered: Buffer | undefined;
};

/** Something that is sold, with a reckoning of its own of what has to come of an upstream's answer. */
export type Goods = {
  readonly id: string;
  readonly name: string;
  readonly path: string;
  readonly contentType: string;
  readonly isStream: boolean;
  /** It is bought over a WebSocket, whose messages are events. */
  readonly isSocket?: boolean;
  readonly modality: ModelEntry['modality'];
  /** The dialect of its upstream, where that is not OpenAI's. */
  readonly dialect?: 'anthropic';
  /** Who sells it, where it is not the usual one of its dialect. */
  readonly provider?: 'own';
  readonly rates: ModelEntry['sources'][number]['rates'];
  /** What is asked for, beside the model. */
  readonly wanted: Json;
  /** How a request says which run it is of, where it may not have a member of its own for that. */
  readonly tagged?: (run: number) => Json;
  /** An upstream's answer that says these words and tells this usage; undefined tells none. */
  answer(words: readonly string[], usage: unknown): string[];
  /** Usage of so much of everything. */
  usageOf(value: unknown): object;
  /** How much an upstream that tells the truth may tell of. */
  readonly used: number;
  /** The most that it can come to: what is held for it, and all that a lie can cost. */
  readonly heldRaw: bigint;
  /** What is owed by the upstream's word, however much that is. */
  owed(sent: Buffer, hasEnded: boolean): Owed;
  /** The upstream's bytes in what the client got. */
  received(bytes: Buffer): Buffer;
};

const MOST_TOKENS = 10_000_000;
export const isCount = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MOST_TOKENS;

/** Dollars a million in tenths, with five per cent, rounded up to the raw unit. */
export const price = (...parts: readonly (readonly [number, number])[]): bigint => {
  const tenths = parts.reduce((sum, [units, rate]) => sum + BigInt(units) * BigInt(rate), 0n);
  return (tenths * 105n + 999n) / 1_000n;
};

export const isPlain = (value: unknown): value is Json => isObject(value) && !Array.isArray(value);

export const NOTHING: Owed = { costRaw: 0n, delivered: undefined };

export function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whole events, cut as the standard has it, in bytes. */
const EVENT = /(?:[^\r\n][^\n]*\n)*\r?\n/gy;
export const eventsOf = (sent: Buffer): string[] =>
  [...sent.toString('latin1').matchAll(EVENT)].map(([event]) => event);
export const dataOf = (event: string): unknown => {
  const lines = Buffer.from(event, 'latin1').toString().split(/\r?\n/);
  return parse(lines.flatMap((line) => /^data: ?(.*)$/.exec(line)?.[1] ?? []).join('\n'));
};
/** What of an event reaches the client: its data, or a sign of life for words that are none. */
export function relayedOf(event: string): string[] {
  const lines = event.split(/\r?\n/).filter((line) => line !== '');
  const data = lines.filter((line) => line.startsWith('data:'));
  if (data.length === 0) return lines.some((line) => line.startsWith(':')) ? [':\n\n'] : [];
  return data.length === 1 && lines.length === 1 ? [event] : [`${data.join('\n')}\n\n`];
}
export const bytesOf = (events: readonly string[]) => Buffer.from(events.join(''), 'latin1');

export const PROMPT = 'Good morning?';
export const chatPrice = (usage: unknown, answerLength: number): bigint => {
  const told = isObject(usage) ? usage : {};
  const { prompt_tokens: input, completion_tokens: output, total_tokens: total } = told;
  if (!isCount(input) || !isCount(output)) {
    return price([Math.ceil(PROMPT.length / 4), 25], [Math.ceil(answerLength / 4), 100]);
  }
  return price([input, 25], [Math.max(output, isCount(total) ? total - input : 0), 100]);
};
export const chat: Pick<
  Goods,
  'path' | 'modality' | 'rates' | 'wanted' | 'usageOf' | 'used' | 'heldRaw'
> = {
  path: '/chat/completions',
  modality: 'text',
  used: 120,
  // Its bytes, eight tokens around them, and the longest answer.
  heldRaw: price([PROMPT.length + 8, 25], [400, 100]),
  rates: { text_input_token: '2.5', text_output_token: '10' },
  wanted: { messages: [{ role: 'user', content: PROMPT }], max_tokens: 400 },
  usageOf: (value: unknown) => ({
    prompt_tokens: value,
    completion_tokens: value,
    total_tokens: value,
  }),
};
