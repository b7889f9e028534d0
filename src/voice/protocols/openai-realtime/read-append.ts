/**
 * The event that a live session hears fifty times a second, read from its bytes: no text, no object and no copy is
 * made of it but the sound itself.
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const PAD = 0x3d;
/** The longest id that an event may have. */
const MOST_ID_CHARS = 512;

const TYPE = Buffer.from('type');
const AUDIO = Buffer.from('audio');
const EVENT_ID = Buffer.from('event_id');
const APPEND = Buffer.from('input_audio_buffer.append');

/** Six bits a character; negative is none. Both alphabets are known, as everywhere else where base64 is taken. */
const SIX_BITS = new Int32Array(256).fill(-1);
[...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].forEach((char, bits) => {
  SIX_BITS[char.charCodeAt(0)] = bits;
});
SIX_BITS['-'.charCodeAt(0)] = 62;
SIX_BITS['_'.charCodeAt(0)] = 63;

/** Work memory of all sessions: the sound of the event that was read last. */
let sound = new Uint8Array(32 * 1_024);
let soundBytes = 0;

/**
 * The sound that an `input_audio_buffer.append` carries, valid until the next call. Undefined is no refusal: the event
 * is another one, or is written in a way that only the reader of all events understands or says what is wrong with.
 */
export function readAppend(event: Uint8Array): Uint8Array | undefined {
  let at = afterBlanks(event, 0);
  if (event[at] !== OPEN) return undefined;
  let isAppend = false;
  let hasAudio = false;
  let hasId = false;
  do {
    const name = afterBlanks(event, at + 1) + 1;
    const nameEnd = endOfText(event, name - 1);
    if (nameEnd < 0) return undefined;
    at = afterBlanks(event, nameEnd + 1);
    if (event[at] !== COLON) return undefined;
    const value = afterBlanks(event, at + 1);
    let end: number;
    if (!hasAudio && spells(event, name, nameEnd, AUDIO)) {
      hasAudio = true;
      end = readBase64(event, value);
    } else if (!isAppend && spells(event, name, nameEnd, TYPE)) {
      end = endOfText(event, value);
      isAppend = end > 0 && spells(event, value + 1, end, APPEND);
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
  } while (event[at] === COMMA);
  const isWhole = event[at] === CLOSE && afterBlanks(event, at + 1) === event.length;
  return isWhole && isAppend && hasAudio ? sound.subarray(0, soundBytes) : undefined;
}

/** Where the blanks of JSON end that begin here, if any do. */
function afterBlanks(event: Uint8Array, from: number): number {
  let at = from;
  while (at < event.length) {
    const byte = event[at] as number;
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) break;
    at++;
  }
  return at;
}

/** The closing quote of the text that opens at `from`; negative when it opens none, or one that is not plain ASCII. */
function endOfText(event: Uint8Array, from: number): number {
  if (event[from] !== QUOTE) return -1;
  for (let at = from + 1; at < event.length; at++) {
    const byte = event[at] as number;
    if (byte === QUOTE) return at;
    if (byte < 0x20 || byte >= 0x7f || byte === BACKSLASH) return -1;
  }
  return -1;
}

function spells(event: Uint8Array, from: number, to: number, word: Uint8Array): boolean {
  if (to - from !== word.length) return false;
  for (let i = 0; i < word.length; i++) if (event[from + i] !== word[i]) return false;
  return true;
}

/** Decodes the base64 text that opens at `from`, and answers its closing quote; negative where it is not wholly that. */
function readBase64(event: Uint8Array, from: number): number {
  if (event[from] !== QUOTE) return -1;
  const most = Math.ceil(((event.length - from) * 3) / 4);
  if (sound.length < most) sound = new Uint8Array(most);
  let at = from + 1;
  let to = 0;
  for (; at + 4 <= event.length; at += 4) {
    const bits =
      ((SIX_BITS[event[at] as number] as number) << 18) |
      ((SIX_BITS[event[at + 1] as number] as number) << 12) |
      ((SIX_BITS[event[at + 2] as number] as number) << 6) |
      (SIX_BITS[event[at + 3] as number] as number);
    if (bits < 0) break;
    sound[to] = bits >> 16;
    sound[to + 1] = bits >> 8;
    sound[to + 2] = bits;
    to += 3;
  }
  let rest = 0;
  let bits = 0;
  for (; at < event.length && rest < 4; at++, rest++) {
    const six = SIX_BITS[event[at] as number] as number;
    if (six < 0) break;
    bits = (bits << 6) | six;
  }
  if (rest === 1 || rest === 4) return -1;
  if (rest === 2) sound[to++] = bits >> 4;
  if (rest === 3) {
    sound[to++] = bits >> 10;
    sound[to++] = bits >> 2;
  }
  // A text is padded whole, or not at all.
  if (rest !== 0 && event[at] === PAD) {
    for (let pads = rest; pads < 4; pads++, at++) if (event[at] !== PAD) return -1;
  }
  if (event[at] !== QUOTE) return -1;
  soundBytes = to;
  return at;
}
