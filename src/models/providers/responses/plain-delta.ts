import { beginsWith } from '../openai/data-lines.ts';
import { plainTextEnd } from '../plain-text.ts';

/** Event that only adds to a text. */
export type PlainDelta = {
  readonly type: string;
  readonly sequence: number;
  /** Number of characters of the text. */
  readonly chars: number;
  /** Index of the first byte of the text in the event. */
  readonly start: number;
};

const PREFIX = 'data: {"type":"';
const HEAD = Buffer.from(`${PREFIX}response.`);
const DELTA_TYPE = /^response\.[a-z_.]{1,40}\.delta$/;
const DELTA = Buffer.from('"delta":"');
const SEQUENCE = Buffer.from('"sequence_number":');
/** Members that must not occur again after the known ones: the event would be more than a delta, or ambiguous. */
const OTHERS = ['"type":', '"delta":', '"sequence_number":', '"response":'].map((key) =>
  Buffer.from(key),
);
const QUOTE = 0x22;

/**
 * Reads a delta from the bytes of its event, without parsing the JSON. Undefined for any other event, and for a delta in an
 * unusual spelling: the caller has to parse such an event.
 */
export function readPlainDelta(event: Buffer): PlainDelta | undefined {
  if (!beginsWith(event, HEAD)) return undefined;
  const typeEnd = event.indexOf(QUOTE, HEAD.length);
  const type = event.toString('latin1', PREFIX.length, typeEnd);
  if (!DELTA_TYPE.test(type)) return undefined;
  const deltaAt = event.indexOf(DELTA, typeEnd);
  const sequenceAt = event.indexOf(SEQUENCE, typeEnd);
  if (deltaAt === -1 || sequenceAt === -1) return undefined;
  const start = deltaAt + DELTA.length;
  const end = plainTextEnd(event, start);
  const sequence = digitsAt(event, sequenceAt + SEQUENCE.length);
  if (end === undefined || sequence === undefined) return undefined;
  const [typeKey, deltaKey, sequenceKey, responseKey] = OTHERS as [Buffer, Buffer, Buffer, Buffer];
  const isPlain =
    event.indexOf(typeKey, typeEnd) === -1 &&
    event.indexOf(deltaKey, end) === -1 &&
    event.indexOf(sequenceKey, sequenceAt + SEQUENCE.length) === -1 &&
    event.indexOf(responseKey, typeEnd) === -1;
  return isPlain ? { type, sequence, chars: end - start, start } : undefined;
}

/** Reads a whole number of up to nine digits before a comma or the end of the object. Undefined for any other text. */
function digitsAt(event: Buffer, start: number): number | undefined {
  let value = 0;
  for (let at = start; at < start + 10; at++) {
    const byte = event[at] as number;
    if (byte >= 0x30 && byte <= 0x39) value = value * 10 + byte - 0x30;
    else return at > start && (byte === 0x2c || byte === 0x7d) ? value : undefined;
  }
  return undefined;
}
