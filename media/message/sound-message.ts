/**
 * Reads the JSON messages that carry audio fifty times a second, from their bytes: without creating text or objects.
 *
 * One memory serves all messages. It holds the message that was scanned last.
 */
import { decoded, INNER, kernel, MOST_BYTES, message, WORDS } from './scan-kernel.ts';

const codeOf = (word: (typeof WORDS)[number]): number => WORDS.indexOf(word) + 1;

/** Codes of the words that a member's name or text can be. */
export const EVENT = codeOf('event');
export const MEDIA = codeOf('media');
export const TRACK = codeOf('track');
export const INBOUND = codeOf('inbound');
export const TIMESTAMP = codeOf('timestamp');
export const PAYLOAD = codeOf('payload');
export const TYPE = codeOf('type');
export const AUDIO = codeOf('audio');
export const EVENT_ID = codeOf('event_id');
export const REALTIME_APPEND = codeOf('input_audio_buffer.append');
export const LIVE_APPEND = codeOf('session.input_audio.append');

/** Returns the number of a member inside an inner object of the message. */
export const within = (word: number): number => word + INNER;

/** Returns the bits of some names in the result of `namesOf`. Without a name, returns the bit that all other names share. */
export const bitsOf = (...words: readonly number[]): number =>
  words.length === 0 ? 1 : words.reduce((bits, word) => bits | (1 << word), 0);

/**
 * Scans a message that is an object of texts, or of objects of texts: plain ASCII without escapes, each of the words at most
 * once. Returns false when it has another shape or is too long.
 */
export function scanMessage(bytes: Uint8Array): boolean {
  if (bytes.length > MOST_BYTES) return false;
  message.set(bytes);
  return kernel.scan(bytes.length) === 1;
}

/**
 * Names of the message's members (`namesOf`), of its inner objects' members (`innerNamesOf`), and of the members that are inner
 * objects (`objectsOf`): see `bitsOf`.
 */
export const namesOf = kernel.outer;
export const innerNamesOf = kernel.inner;
export const objectsOf = kernel.objects;

/** Returns the word that equals a member's text; 0 for any other text. Call only for members that exist. */
export const wordOf = (member: number): number => kernel.value(member);

/** Returns the number of characters in the text of a member. */
export const lengthOf = (member: number): number => kernel.letters(member);

/** Returns the whole number of at most 15 digits in a member's text, or -1. */
export const numberOf = (member: number): number => kernel.number(member);

/** The front of the decoded bytes as last returned. It is reused, because the chunks of a stream have one length. */
let sound = decoded.subarray(0, 0);

/**
 * Returns the decoded bytes of a member's base64 text, valid until the next message; undefined when the text is no base64.
 * Padding must be complete or absent.
 */
export const base64Of = (member: number): Uint8Array | undefined => soundOf(kernel.decode(member));

/** Decodes a base64 text outside a message; otherwise as `base64Of`. Undefined also when the text is too long. */
export function decodeBase64(base64: string): Uint8Array | undefined {
  if (base64.length > MOST_BYTES) return undefined;
  return soundOf(kernel.decodeAll(message.write(base64, 'latin1')));
}

function soundOf(bytes: number): Uint8Array | undefined {
  if (bytes < 0) return undefined;
  if (bytes !== sound.length) sound = decoded.subarray(0, bytes);
  return sound;
}
