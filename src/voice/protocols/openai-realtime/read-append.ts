import {
  afterBlanks,
  Base64Text,
  endOfText,
  JSON_SIGNS,
  spells,
} from '../../../kernel/json/json-bytes.ts';

/** Parses the event that comes fifty times a second from its bytes, without allocating text or objects. */

/** The longest id that an event may have. */
const MOST_ID_CHARS = 512;

const TYPE = Buffer.from('type');
const AUDIO = Buffer.from('audio');
const EVENT_ID = Buffer.from('event_id');
const APPEND = Buffer.from('input_audio_buffer.append');

/** Of all sessions: the audio of the last event. */
const sound = new Base64Text();

/**
 * The audio of an event of `type`, by default an `input_audio_buffer.append`, valid until the next call. Undefined is no
 * refusal: it is another event, or one for the general parser to read or refuse.
 */
export function readAppend(event: Uint8Array, type: Uint8Array = APPEND): Uint8Array | undefined {
  let at = afterBlanks(event, 0);
  if (event[at] !== JSON_SIGNS.open) return undefined;
  let isAppend = false;
  let hasAudio = false;
  let hasId = false;
  do {
    const name = afterBlanks(event, at + 1) + 1;
    const nameEnd = endOfText(event, name - 1);
    if (nameEnd < 0) return undefined;
    at = afterBlanks(event, nameEnd + 1);
    if (event[at] !== JSON_SIGNS.colon) return undefined;
    const value = afterBlanks(event, at + 1);
    let end: number;
    if (!hasAudio && spells(event, name, nameEnd, AUDIO)) {
      hasAudio = true;
      end = sound.read(event, value);
    } else if (!isAppend && spells(event, name, nameEnd, TYPE)) {
      end = endOfText(event, value);
      isAppend = end > 0 && spells(event, value + 1, end, type);
      if (!isAppend) return undefined;
    } else if (!hasId && spells(event, name, nameEnd, EVENT_ID)) {
      hasId = true;
      end = endOfText(event, value);
      if (end - value - 1 > MOST_ID_CHARS) return undefined;
    } else {
      return undefined;
    }
    if (end < 0) return undefined;
    at = afterBlanks(event, end + 1);
  } while (event[at] === JSON_SIGNS.comma);
  const isWhole = event[at] === JSON_SIGNS.close && afterBlanks(event, at + 1) === event.length;
  return isWhole && isAppend && hasAudio ? sound.bytes : undefined;
}
