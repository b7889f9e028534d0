import { beginsWith } from '../openai/data-lines.ts';
import { plainTextEnd } from '../plain-text.ts';

const HEAD = Buffer.from('data: {"type":"content_block_delta","index":');
/** JSON texts that may follow the block's number in a delta. */
const TEXTS = [
  ',"delta":{"type":"text_delta","text":"',
  ',"delta":{"type":"thinking_delta","thinking":"',
  ',"delta":{"type":"input_json_delta","partial_json":"',
].map((text) => Buffer.from(text));
const END = Buffer.from('"}}\n');
const COMMA = 0x2c;
const ZERO = 0x30;
const NINE = 0x39;

/**
 * Counts the characters that a delta adds, without parsing its event. Undefined when the event must be parsed: it is no delta,
 * or not spelled as the vendor usually does.
 */
export function plainDeltaChars(event: Buffer): number | undefined {
  if (!beginsWith(event, HEAD)) return undefined;
  let at = HEAD.length;
  while (isDigit(event[at])) at++;
  if (at === HEAD.length || event[at] !== COMMA) return undefined;
  for (const text of TEXTS) {
    const start = at + text.length;
    if (!standsAt(event, text, at)) continue;
    const end = plainTextEnd(event, start);
    return end !== undefined && standsAt(event, END, end) ? end - start : undefined;
  }
  return undefined;
}

const isDigit = (byte: number | undefined): boolean =>
  byte !== undefined && byte >= ZERO && byte <= NINE;

const standsAt = (event: Buffer, bytes: Buffer, at: number): boolean =>
  event.length >= at + bytes.length &&
  event.compare(bytes, 0, bytes.length, at, at + bytes.length) === 0;
