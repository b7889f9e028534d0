const NEWLINE = 0x0a;

/** Splits a streamed body into lines. Reads at most `maxBytes`, and ignores the bytes after them. */
export class ReplyLines {
  readonly #maxBytes: number;
  /** Chunks of the incomplete last line. They stay bytes, because a character may be split between two chunks. */
  #rest: Uint8Array[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** True once `maxBytes` were read. */
  get isFull(): boolean {
    return this.#bytes >= this.#maxBytes;
  }

  /** Returns the lines that end in this chunk, without their line ends. */
  push(chunk: Uint8Array): string[] {
    const bytes = chunk.subarray(0, this.#maxBytes - this.#bytes);
    this.#bytes += bytes.length;
    const lines: string[] = [];
    let from = 0;
    for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, from)) {
      this.#rest.push(bytes.subarray(from, at));
      lines.push(this.#line());
      from = at + 1;
    }
    if (from < bytes.length) this.#rest.push(Uint8Array.from(bytes.subarray(from)));
    return lines;
  }

  /** Returns the last line, which needs no line end. */
  end(): string[] {
    return this.#rest.length === 0 ? [] : [this.#line()];
  }

  #line(): string {
    const line = Buffer.concat(this.#rest).toString('utf8');
    this.#rest = [];
    return line;
  }
}
