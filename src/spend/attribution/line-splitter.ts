const NEWLINE = 0x0a;

/** Line without its newline, which may be a view of the chunk it arrived in. `too_long` when it exceeds the bound. */
export type Line = Buffer | 'too_long';

/**
 * Cuts bytes into lines wherever the pieces end, even inside a character. It holds at most one line of the maximum length; the
 * excess of a longer line is dropped as it arrives.
 */
export class LineSplitter {
  readonly #held: Buffer;
  #heldBytes = 0;
  #isTooLong = false;
  #isBegun = false;

  constructor(maxLineBytes: number) {
    this.#held = Buffer.allocUnsafe(maxLineBytes);
  }

  /** Yields the lines that end in this piece. A line is valid until the next line is read. */
  *push(piece: Uint8Array): Generator<Line> {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    let from = 0;
    for (;;) {
      const end = bytes.indexOf(NEWLINE, from);
      if (end < 0) break;
      yield this.#finish(bytes.subarray(from, end));
      from = end + 1;
    }
    this.#hold(bytes.subarray(from));
  }

  /** Returns the last line, when no newline ended it; otherwise undefined. */
  end(): Line | undefined {
    return this.#isBegun ? this.#finish(Buffer.alloc(0)) : undefined;
  }

  #finish(rest: Buffer): Line {
    if (!this.#isBegun && rest.length <= this.#held.length) return rest;
    this.#hold(rest);
    const line = this.#isTooLong ? 'too_long' : this.#held.subarray(0, this.#heldBytes);
    this.#heldBytes = 0;
    this.#isTooLong = false;
    this.#isBegun = false;
    return line;
  }

  #hold(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#isBegun = true;
    if (this.#heldBytes + bytes.length > this.#held.length) {
      this.#isTooLong = true;
      this.#heldBytes = 0;
    }
    if (!this.#isTooLong) this.#heldBytes += bytes.copy(this.#held, this.#heldBytes);
  }
}
