import { tryParseJson } from '../../../kernel/json/parse-json.ts';
import { isObject } from '../../../kernel/json.ts';
import { LIMITS } from '../../../kernel/limits.ts';
import type { AnswerNote, TokenUsage } from '../chat-rail.ts';
import { readUsage } from './read-completion.ts';
import { readNote } from './read-note.ts';

/** What is done with an event: it goes on, or it was for us alone. */
export type Fate = 'relayed' | 'kept' | 'done';

const USAGE = Buffer.from('"usage"');
const TEXTS = ['"content"', '"arguments"', '"reasoning_content"', '"reasoning"'].map((text) =>
  Buffer.from(text),
);
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const COLON = 0x3a;

/**
 * Looks at the events of a chat stream as they pass, without parsing them: only the one that carries the usage is read.
 * Counts what the model wrote, for a stream that breaks off before it has said what it used.
 */
export class ChatTap {
  readonly #wantsUsage: boolean;
  #usage: TokenUsage | null = null;
  #answerBytes = 0;
  /** The latest two events: the one that ends the answer, and one of usage behind it. */
  #latest: Buffer | undefined;
  #before: Buffer | undefined;

  /** `wantsUsage`: the caller asked for the event that carries nothing but usage. */
  constructor(wantsUsage: boolean) {
    this.#wantsUsage = wantsUsage;
  }

  get usage(): TokenUsage | null {
    return this.#usage;
  }

  /** Bytes of text, of arguments and of reasoning, escapes counted as they are written. */
  get answerBytes(): number {
    return this.#answerBytes;
  }

  /** Read from the end of the answer alone, so that it costs nothing while events pass. */
  note(): AnswerNote {
    const ends = [this.#before, this.#latest].flatMap((event) => event ?? []);
    return readNote(...ends.map(parseData).filter(isObject));
  }

  look(event: Buffer): Fate {
    if (isTerminator(event)) return 'done';
    this.#before = this.#latest;
    this.#latest = event;
    for (const key of TEXTS) this.#answerBytes += textBytes(event, key);
    return carriesUsage(event) && this.#readUsage(event) ? 'kept' : 'relayed';
  }

  /** Whether the event is about usage alone, which was not asked for. */
  #readUsage(event: Buffer): boolean {
    const chunk = parseData(event);
    if (!isObject(chunk)) return false;
    this.#usage = readUsage(chunk.usage) ?? this.#usage;
    return !this.#wantsUsage && Array.isArray(chunk.choices) && chunk.choices.length === 0;
  }
}

/** Whether a `usage` in it is an object: it reads null on every event before the last. */
export function carriesUsage(event: Buffer): boolean {
  for (let at = event.indexOf(USAGE); at !== -1; at = event.indexOf(USAGE, at + 1)) {
    if (event[valueAt(event, at + USAGE.length)] === OPEN_BRACE) return true;
  }
  return false;
}

/** Where the value of a key begins that ends at `from`; the end of the event where what it ends is no key. */
function valueAt(event: Buffer, from: number): number {
  const colon = afterSpace(event, from);
  return event[colon] === COLON ? afterSpace(event, colon + 1) : event.length;
}

function afterSpace(event: Buffer, from: number): number {
  let at = from;
  for (let byte = event[at]; byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09; ) {
    byte = event[++at];
  }
  return at;
}

/** The length of all strings of one key. */
function textBytes(event: Buffer, key: Buffer): number {
  let bytes = 0;
  for (let at = event.indexOf(key); at !== -1; at = event.indexOf(key, at + 1)) {
    const start = valueAt(event, at + key.length) + 1;
    if (event[start - 1] !== QUOTE) continue;
    let end = start;
    while (end < event.length && event[end] !== QUOTE) end += event[end] === BACKSLASH ? 2 : 1;
    bytes += Math.min(end, event.length) - start;
  }
  return bytes;
}

const TERMINATOR = /^data: ?\[DONE\]\s*$/m;

export const isTerminator = (event: Buffer): boolean =>
  event.length < 64 && TERMINATOR.test(event.toString('latin1'));

/** The JSON of an event's data lines, or nothing where it has none. */
export function parseData(event: Buffer): unknown {
  const lines = event.toString('utf8').split(/\r?\n/);
  const data = lines
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(5).trimStart());
  return tryParseJson(data.join('\n'), LIMITS.upstreamJson);
}
