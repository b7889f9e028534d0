const LF = 0x0a;
const CR = 0x0d;
const RETURN = Buffer.from([CR]);
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * Removes a byte order mark at the beginning of an event stream and replaces each carriage return that ends a line with a line
 * feed, as the standard requires. A piece without either is returned without a copy, also one with `\r\n`.
 */
export class LineEnds {
  #isBegun = false;
  /** Bytes that may begin a byte order mark. */
  #head: Buffer | undefined;
  #endedWithReturn = false;
  /** True after the first carriage return without a line feed. From then on all line ends are written as a line feed. */
  #hasLone = false;
  /** True when the last byte was a carriage return, which is held until the next byte. */
  #isHeld = false;

  push(piece: Buffer): Buffer {
    let rest = this.#isBegun ? piece : this.#begin(piece);
    if (rest.length === 0) return rest;
    if (this.#isHeld) rest = Buffer.concat([RETURN, rest]);
    this.#isHeld = false;
    this.#hasLone ||= hasLoneReturn(rest);
    if (this.#hasLone) return this.#withFeeds(rest);
    this.#isHeld = rest[rest.length - 1] === CR;
    return this.#isHeld ? rest.subarray(0, -1) : rest;
  }

  #begin(piece: Buffer): Buffer {
    const first = this.#head === undefined ? piece : Buffer.concat([this.#head, piece]);
    const mark = first.subarray(0, BOM.length);
    if (mark.length < BOM.length && mark.equals(BOM.subarray(0, mark.length))) {
      this.#head = first;
      return Buffer.alloc(0);
    }
    this.#isBegun = true;
    this.#head = undefined;
    return mark.equals(BOM) ? first.subarray(BOM.length) : first;
  }

  /**
   * Writes each line end as a line feed, and more than two in a row as two: otherwise a piece of line ends would be millions of
   * events.
   */
  #withFeeds(piece: Buffer): Buffer {
    // The return at the end of the previous piece was already written as a line end.
    const bytes = this.#endedWithReturn && piece[0] === LF ? piece.subarray(1) : piece;
    this.#endedWithReturn = bytes[bytes.length - 1] === CR;
    const copy = Buffer.allocUnsafe(bytes.length);
    let length = 0;
    let feeds = 0;
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at] as number;
      if (byte !== CR && byte !== LF) feeds = 0;
      else if ((byte === CR && bytes[at + 1] === LF) || ++feeds > 2) continue;
      copy[length++] = byte === CR ? LF : byte;
    }
    return copy.subarray(0, length);
  }
}

/** Returns true when a carriage return is followed by a byte other than a line feed. */
function hasLoneReturn(bytes: Buffer): boolean {
  let at = bytes.indexOf(CR);
  while (at !== -1 && bytes[at + 1] === LF) at = bytes.indexOf(CR, at + 2);
  return at !== -1 && at + 1 < bytes.length;
}
