import { isObject, type Json } from '../../../kernel/json.ts';
import { plainTextEnd } from '../plain-text.ts';
import { beginsWith } from './data-lines.ts';

const CONTENT = Buffer.from('"content":');
const QUOTE = 0x22;
/** Upper bound of the bytes of a chunk that is remembered. */
const MOST_BYTES = 4_096;
/** Chunks in a row that may be remembered without a match; then the chunks of the stream are taken to differ. */
const MOST_TRIES = 4;
const NOTHING = Buffer.alloc(0);

/**
 * Reads the text of the chunks of one chat stream without parsing each. Nearly all chunks of a stream differ only in their
 * text: one chunk is parsed and remembered, and the text of a chunk with the same other bytes is read from its place.
 */
export class ChunkTemplate {
  #before = NOTHING;
  #after = NOTHING;
  #tries = 0;

  /**
   * Returns the text of an event that has nothing but text. Undefined when the event must be parsed; the parsed event may be
   * passed to `remember`.
   */
  textOf(event: Buffer): string | undefined {
    const start = this.#before.length;
    const end = event.length - this.#after.length;
    if (start === 0 || end < start) return undefined;
    if (!beginsWith(event, this.#before)) return undefined;
    if (event.compare(this.#after, 0, this.#after.length, end) !== 0) return undefined;
    if (plainTextEnd(event, start) !== end) return undefined;
    this.#tries = 0;
    return event.toString('latin1', start, end);
  }

  /** Remembers the bytes around the text of a parsed event, to recognise later events. */
  remember(event: Buffer, chunk: Json): void {
    if (this.#tries >= MOST_TRIES || event.length > MOST_BYTES) return;
    const text = soleTextOf(chunk);
    if (text === undefined) return;
    const at = event.indexOf(CONTENT);
    if (at === -1 || event.indexOf(CONTENT, at + 1) !== -1) return;
    const start = event.indexOf(QUOTE, at + CONTENT.length) + 1;
    const end = plainTextEnd(event, start);
    if (end === undefined || event.toString('latin1', start, end) !== text) return;
    this.#tries++;
    this.#before = Buffer.from(event.subarray(0, start));
    this.#after = Buffer.from(event.subarray(end));
  }
}

/**
 * Returns the text of a chunk that has nothing else: no error, usage, log probabilities or end, and no other member in its
 * delta. Undefined for any other chunk.
 */
function soleTextOf({ choices, error, usage }: Json): string | undefined {
  if (isObject(error) || isObject(usage) || !Array.isArray(choices)) return undefined;
  const [choice, ...others] = choices as unknown[];
  if (!isObject(choice) || others.length > 0 || isObject(choice.logprobs)) return undefined;
  if (Number(choice.index) > 0) return undefined;
  const { delta, finish_reason: reason } = choice;
  if (typeof reason === 'string' || !isObject(delta)) return undefined;
  const { content, role: _, ...rest } = delta;
  const isSole = typeof content === 'string' && Object.values(rest).every(isEmpty);
  return isSole ? content : undefined;
}

const isEmpty = (value: unknown): boolean =>
  value === null || value === '' || (Array.isArray(value) && value.length === 0);
