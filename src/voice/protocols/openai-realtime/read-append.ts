import {
  base64Of,
  isObjectAt,
  isText,
  lengthOf,
  nameOf,
  scanMessage,
  WORD,
} from '../../../../media/message/sound-message.ts';

/** Parses the event that comes fifty times a second from its bytes, without allocating text or objects. */

/** The longest id that an event may have. */
const MOST_ID_CHARS = 512;

const APPEND = Buffer.from('input_audio_buffer.append');

const TYPE = 1;
const AUDIO = 2;
const EVENT_ID = 4;

/**
 * The audio of an event of `type`, by default an `input_audio_buffer.append`, valid until the next call. Undefined is no
 * refusal: it is another event, or one for the general parser to read or refuse.
 */
export function readAppend(event: Uint8Array, type: Uint8Array = APPEND): Uint8Array | undefined {
  const members = scanMessage(event);
  let audio: Uint8Array | undefined;
  let seen = 0;
  for (let member = 0; member < members; member++) {
    const part = partOf(member);
    if (part === 0 || (seen & part) !== 0 || isObjectAt(member)) return undefined;
    seen |= part;
    if (part === TYPE && !isText(member, type)) return undefined;
    if (part === EVENT_ID && lengthOf(member) > MOST_ID_CHARS) return undefined;
    if (part === AUDIO) audio = base64Of(member);
    if (part === AUDIO && audio === undefined) return undefined;
  }
  return (seen & TYPE) === 0 ? undefined : audio;
}

function partOf(member: number): number {
  const name = nameOf(member);
  if (name === WORD.type) return TYPE;
  if (name === WORD.audio) return AUDIO;
  return name === WORD.event_id ? EVENT_ID : 0;
}
