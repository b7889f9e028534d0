import {
  AUDIO,
  base64Of,
  bitsOf,
  EVENT_ID,
  lengthOf,
  namesOf,
  objectsOf,
  REALTIME_APPEND,
  scanMessage,
  TYPE,
  wordOf,
} from '../../../media/message/sound-message.ts';

/** Upper bound of an event id in characters. */
const MOST_ID_CHARS = 512;

const OF_APPEND = bitsOf(TYPE, AUDIO);
const IDENTIFIED = bitsOf(EVENT_ID);

/**
 * Reads the audio of an event of `type` (default: `input_audio_buffer.append`) from its bytes, without a JSON parser, because
 * such an event arrives 50 times a second. The result is valid until the next call. Undefined for any other event, which the
 * general parser reads or refuses.
 */
export function readAppend(event: Uint8Array, type = REALTIME_APPEND): Uint8Array | undefined {
  if (!scanMessage(event) || objectsOf() !== 0) return undefined;
  const names = namesOf();
  if ((names & ~IDENTIFIED) !== OF_APPEND || wordOf(TYPE) !== type) return undefined;
  if ((names & IDENTIFIED) !== 0 && lengthOf(EVENT_ID) > MOST_ID_CHARS) return undefined;
  return base64Of(AUDIO);
}
