/**
 * Reads the JSON messages that bring sound fifty times a second, from their bytes: without text and without objects.
 *
 * One memory serves all messages. It holds the one that was scanned last.
 */
import { decoded, INNER, kernel, MOST_BYTES, message, WORDS } from './scan-kernel.ts';

const codeOf = (word: (typeof WORDS)[number]): number => WORDS.indexOf(word) + 1;

/** The words that a member's name or text can be. */
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

/** A member of an object within the message. */
export const within = (word: number): number => word + INNER;

/** The bits of some names in what `namesOf` answers; without a name, that of all others. */
export const bitsOf = (...words: readonly number[]): number =>
  words.length === 0 ? 1 : words.reduce((bits, word) => bits | (1 << word), 0);

/**
 * Reads a message that is an object of texts, and of objects of texts: plain ASCII without escapes, each of the words at
 * most once. False: it is of another shape, or too long.
 */
export function scanMessage(bytes: Uint8Array): boolean {
  if (bytes.length > MOST_BYTES) return false;
  message.set(bytes);
  return kernel.scan(bytes.length) === 1;
}

/** The names of its members, of those of its inner objects, and of the members that are such objects: see `bitsOf`. */
export const namesOf = kernel.outer;
export const innerNamesOf = kernel.inner;
export const objectsOf = kernel.objects;

/** The word that a member's text is; 0: another. Ask only for members that are there. */
export const wordOf = (member: number): number => kernel.value(member);

/** Returns the number of characters in the text of a member. */
export const lengthOf = (member: number): number => kernel.letters(member);

/** The whole number of at most 15 digits that its text is, or -1. */
export const numberOf = (member: number): number => kernel.number(member);

/** The front of what was decoded, as it was last given out: the sounds of a stream have one length. */
let sound = decoded.subarray(0, 0);

/** The bytes of its base64 text, good until the next message; undefined where it is none. Padding is whole, or absent. */
export const base64Of = (member: number): Uint8Array | undefined => soundOf(kernel.decode(member));

/** The same of a text that is no message. */
export function decodeBase64(base64: string): Uint8Array | undefined {
  if (base64.length > MOST_BYTES) return undefined;
  return soundOf(kernel.decodeAll(message.write(base64, 'latin1')));
}

function soundOf(bytes: number): Uint8Array | undefined {
  if (bytes < 0) return undefined;
  if (bytes !== sound.length) sound = decoded.subarray(0, bytes);
  return sound;
}
