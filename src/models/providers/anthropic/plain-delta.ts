import { beginsWith } from '../openai/data-lines.ts';
import { plainTextEnd } from '../plain-text.ts';

/** Event that only adds to the text of a block. */
type PlainDelta = {
  readonly type: 'text_delta' | 'thinking_delta' | 'input_json_delta';
  /** Number of the block. */
  readonly index: number;
  /** Number of characters of the text. */
  readonly chars: number;
  /** Index of the first byte of the text in the event. */
  readonly start: number;
};

const HEAD = Buffer.from('data: {"type":"content_block_delta","index":');
/** JSON texts that may follow the block's number in a delta. */
const TEXTS = (
  [
    ['text_delta', 'text'],
    ['thinking_delta', 'thinking'],
    ['input_json_delta', 'partial_json'],
  ] as const
).map(([type, name]) => ({
  type,
  begin: Buffer.from(`,"delta":{"type":"${type}","${name}":"`),
}));
const END = Buffer.from('"}}\n');
const COMMA = 0x2c;
const ZERO = 0x30;
const NINE = 0x39;

/**
 * Reads a delta from the bytes of its event, without parsing the JSON. Undefined when the event must be parsed: it is no delta,
 * or not spelled as the vendor usually does.
 */
export function readPlainDelta(event: Buffer): PlainDelta | undefined {
  if (!beginsWith(event, HEAD)) return undefined;
  let at = HEAD.length;
  let index = 0;
  while (isDigit(event[at])) index = index * 10 + (event[at++] as number) - ZERO;
  if (at === HEAD.length || event[at] !== COMMA) return undefined;
  for (const { begin, type } of TEXTS) {
    if (!standsAt(event, begin, at)) continue;
    const start = at + begin.length;
    const end = plainTextEnd(event, start);
    if (end === undefined || !standsAt(event, END, end)) return undefined;
    return { type, index, chars: end - start, start };
  }
  return undefined;
}

const isDigit = (byte: number | undefined): boolean =>
  byte !== undefined && byte >= ZERO && byte <= NINE;

const standsAt = (event: Buffer, bytes: Buffer, at: number): boolean =>
  event.length >= at + bytes.length &&
  event.compare(bytes, 0, bytes.length, at, at + bytes.length) === 0;
