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
} from '../../../../media/message/sound-message.ts';

/** The longest id that an event may have. */
const MOST_ID_CHARS = 512;

const OF_APPEND = bitsOf(TYPE, AUDIO);
const IDENTIFIED = bitsOf(EVENT_ID);

/**
 * Reads the event that comes fifty times a second from its bytes: the audio of an event of `type`, by default an
 * `input_audio_buffer.append`, valid until the next call. Undefined is no refusal: it is another event, or one for the
 * general parser to read or refuse.
 */
export function readAppend(event: Uint8Array, type = REALTIME_APPEND): Uint8Array | undefined {
  if (!scanMessage(event) || objectsOf() !== 0) return undefined;
  const names = namesOf();
  if ((names & ~IDENTIFIED) !== OF_APPEND || wordOf(TYPE) !== type) return undefined;
  if ((names & IDENTIFIED) !== 0 && lengthOf(EVENT_ID) > MOST_ID_CHARS) return undefined;
  return base64Of(AUDIO);
}
