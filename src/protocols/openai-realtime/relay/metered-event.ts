import { parseObject } from '../../../kernel/json/parse-json.ts';
import { isObject, type Json } from '../../../kernel/json.ts';
import { tokenCount } from '../../../models/providers/token-count.ts';

/** Tokens of one turn or one transcript, as its upstream counted them. Cached tokens are contained in the other counts. */
export type RealtimeTokens = {
  readonly textIn: number;
  readonly audioIn: number;
  readonly cachedText: number;
  readonly cachedAudio: number;
  readonly textOut: number;
  readonly audioOut: number;
};

/** Event of an upstream that affects the price. `id` is null when the event has none. */
export type MeteredEvent =
  | { readonly kind: 'began'; readonly id: string | null }
  | {
      readonly kind: 'done';
      readonly id: string | null;
      /** True when the upstream reports that the turn failed. Such a turn may have no usage. */
      readonly isFailed: boolean;
      /** True when the caller or the client interrupted the turn. */
      readonly isCancelled: boolean;
      readonly tokens: RealtimeTokens | null;
    }
  | {
      readonly kind: 'heard';
      readonly id: string | null;
      readonly tokens: RealtimeTokens | null;
      readonly seconds: number | null;
    };

type EventType = keyof typeof READERS;

const READERS = {
  'response.created': readBegan,
  'response.done': readDone,
  'conversation.item.input_audio_transcription.completed': readHeard,
} as const;

const TYPES = Object.keys(READERS) as EventType[];

/** Beginning of events that are written without blanks and with their type first. */
const LEAD = Buffer.from('{"type":"');
const QUOTE = 0x22;
const LONGEST_TYPE = 96;
/** Quoted event types to search for. Encoded audio contains no quotes, so the search skips it at the speed of memory. */
const NEEDLES = TYPES.map((type) => Buffer.from(`"${type}"`));

/**
 * Reads a frame that affects the price. Other frames are not parsed: their first bytes are checked, or the frame is searched
 * when the type does not come first.
 */
export function readMeteredEvent(
  frame: Buffer,
  type = leadingType(frame),
): MeteredEvent | undefined {
  if (!mayBeMetered(frame, type)) return undefined;
  const event = parseObject(frame);
  const known = TYPES.find((name) => name === event.type);
  return known === undefined ? undefined : READERS[known](event);
}

/** The last type that was read, and the frame's bytes up to its end. Most frames begin like the frame before. */
let last = { lead: LEAD, type: '' };

/**
 * Returns the type of an event that is written without blanks and with its type first. Undefined for any other event; an empty
 * text for a type that is too long.
 */
export function leadingType(frame: Buffer): string | undefined {
  const { lead, type } = last;
  if (lead !== LEAD && frame.length > lead.length && lead.compare(frame, 0, lead.length) === 0) {
    return type;
  }
  if (frame.length <= LEAD.length || frame.compare(LEAD, 0, LEAD.length, 0, LEAD.length) !== 0) {
    return undefined;
  }
  const end = frame.subarray(0, LEAD.length + LONGEST_TYPE).indexOf(QUOTE, LEAD.length);
  if (end === -1) return '';
  last = {
    lead: Buffer.from(frame.subarray(0, end + 1)),
    type: frame.toString('latin1', LEAD.length, end),
  };
  return last.type;
}

const mayBeMetered = (frame: Buffer, type: string | undefined): boolean =>
  type === undefined
    ? NEEDLES.some((needle) => frame.includes(needle))
    : Object.hasOwn(READERS, type);

function readBegan({ response }: Json): MeteredEvent {
  return { kind: 'began', id: idOf(response) };
}

function readDone({ response }: Json): MeteredEvent {
  const { status, usage } = objectOf(response);
  const tokens = isObject(usage) ? readTokens(usage, 'audio') : null;
  const isCancelled = status === 'cancelled';
  return { kind: 'done', id: idOf(response), isFailed: status === 'failed', isCancelled, tokens };
}

function readHeard({ item_id: item, content_index: part, usage }: Json): MeteredEvent {
  const used = objectOf(usage);
  const { seconds } = used;
  return {
    kind: 'heard',
    id: typeof item === 'string' ? `${item}/${String(part)}` : null,
    tokens: readTokens(used, 'text'),
    seconds: typeof seconds === 'number' && seconds > 0 && seconds < 86_400 ? seconds : null,
  };
}

const idOf = (response: unknown): string | null =>
  isObject(response) && typeof response.id === 'string' ? response.id : null;

/**
 * Reads the tokens of a `usage`. Null when input or output is missing or implausibly large. Tokens that are not marked as text
 * count as audio; all output of a transcript counts as text.
 */
function readTokens(usage: Json, output: 'audio' | 'text'): RealtimeTokens | null {
  const input = tokenCount(usage.input_tokens);
  const out = tokenCount(usage.output_tokens);
  if (input === undefined || out === undefined) return null;
  const heard = partsOf(usage.input_token_details);
  // Image tokens are billed at the text rate.
  const textIn = Math.min(input, heard('text_tokens') + heard('image_tokens'));
  const audioIn = input - textIn;

  const { cached_tokens_details: cachedParts } = objectOf(usage.input_token_details);
  const cached = Math.min(input, heard('cached_tokens'));
  // Cached tokens that are not marked as audio count as text first: cached text has the smaller discount.
  const cachedSound = Math.min(audioIn, cached, partsOf(cachedParts)('audio_tokens'));
  const cachedText = Math.min(textIn, cached - cachedSound);

  const said = partsOf(usage.output_token_details);
  const textOut = output === 'text' ? out : Math.min(out, said('text_tokens'));
  return {
    textIn,
    audioIn,
    cachedText,
    cachedAudio: cached - cachedText,
    textOut,
    audioOut: out - textOut,
  };
}

const partsOf = (details: unknown) => {
  const parts = objectOf(details);
  return (name: string): number => tokenCount(parts[name]) ?? 0;
};

const objectOf = (value: unknown): Json => (isObject(value) ? value : {});
