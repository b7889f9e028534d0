/**
 * Steps through JSON text in its bytes, for the messages that come fifty times a second: without text and without
 * objects. Each function answers a place in the bytes.
 */

export const JSON_SIGNS = { comma: 0x2c, colon: 0x3a, open: 0x7b, close: 0x7d } as const;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Skips JSON white space from `from` on. */
export function afterBlanks(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length) {
    const byte = bytes[at] as number;
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) break;
    at++;
  }
  return at;
}

/** The index of the closing quote of the text whose opening quote is at `from`; negative where there is no plain ASCII text. */
export function endOfText(bytes: Uint8Array, from: number): number {
  if (bytes[from] !== QUOTE) return -1;
  for (let at = from + 1; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) return at;
    if (byte < 0x20 || byte >= 0x7f || byte === BACKSLASH) return -1;
  }
  return -1;
}

/** Whether the bytes from `from` to `to` are those of a word. */
export function spells(bytes: Uint8Array, from: number, to: number, word: Uint8Array): boolean {
  if (to - from !== word.length) return false;
  for (let i = 0; i < word.length; i++) if (bytes[from + i] !== word[i]) return false;
  return true;
}

const PAD = 0x3d;

/** Six bits a character; negative for any other. Both base64 alphabets are accepted. */
const SIX_BITS = new Int32Array(256).fill(-1);
[...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].forEach((char, bits) => {
  SIX_BITS[char.charCodeAt(0)] = bits;
});
SIX_BITS['-'.charCodeAt(0)] = 62;
SIX_BITS['_'.charCodeAt(0)] = 63;

/** Decodes base64 texts into memory that it keeps. */
export class Base64Text {
  #memory = new Uint8Array(1_024);
  /** The front of the memory as it was last given out: texts of one stream have one length. */
  #view: Uint8Array = this.#memory.subarray(0, 0);

  /** What was decoded last; the next text overwrites it. */
  get bytes(): Uint8Array {
    return this.#view;
  }

  /**
   * Decodes the text whose opening quote is at `from`, and answers the index of its closing quote; negative where it is no
   * base64. Padding is whole, or absent.
   */
  read(source: Uint8Array, from: number): number {
    if (source[from] !== QUOTE) return -1;
    const most = Math.ceil(((source.length - from) * 3) / 4);
    if (this.#memory.length < most) this.#grow(most);
    const memory = this.#memory;
    let at = from + 1;
    let to = 0;
    for (; at + 4 <= source.length; at += 4) {
      const bits =
        ((SIX_BITS[source[at] as number] as number) << 18) |
        ((SIX_BITS[source[at + 1] as number] as number) << 12) |
        ((SIX_BITS[source[at + 2] as number] as number) << 6) |
        (SIX_BITS[source[at + 3] as number] as number);
      if (bits < 0) break;
      memory[to] = bits >> 16;
      memory[to + 1] = bits >> 8;
      memory[to + 2] = bits;
      to += 3;
    }
    let rest = 0;
    let bits = 0;
    for (; at < source.length && rest < 4; at++, rest++) {
      const six = SIX_BITS[source[at] as number] as number;
      if (six < 0) break;
      bits = (bits << 6) | six;
    }
    if (rest === 1 || rest === 4) return -1;
    if (rest === 2) memory[to++] = bits >> 4;
    if (rest === 3) {
      memory[to++] = bits >> 10;
      memory[to++] = bits >> 2;
    }
    if (rest !== 0 && source[at] === PAD) {
      for (let pads = rest; pads < 4; pads++, at++) if (source[at] !== PAD) return -1;
    }
    if (source[at] !== QUOTE) return -1;
    if (to !== this.#view.length) this.#view = memory.subarray(0, to);
    return at;
  }

  #grow(bytes: number): void {
    this.#memory = new Uint8Array(bytes);
    this.#view = this.#memory.subarray(0, 0);
  }
}
