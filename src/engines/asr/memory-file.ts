/** A file in memory that doubles as it grows. Writing beyond `maxBytes` throws. */
export class MemoryFile {
  #bytes = new Uint8Array(64 * 1024);
  #length = 0;
  #position = 0;
  readonly #maxBytes: number;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  write(data: Uint8Array): void {
    const end = this.#position + data.length;
    if (end > this.#maxBytes) throw new RangeError('the file is longer than its bound');
    if (end > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(end, this.#bytes.length * 2));
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    this.#bytes.set(data, this.#position);
    this.#position = end;
    this.#length = Math.max(this.#length, end);
  }

  /** `whence` as WASI counts it: from the start, from here, from the end. */
  seek(offset: number, whence: number): number {
    const origin = [0, this.#position, this.#length][whence] ?? 0;
    this.#position = Math.max(0, origin + offset);
    return this.#position;
  }

  contents(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }
}
