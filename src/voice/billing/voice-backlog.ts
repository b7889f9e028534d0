const BLOCK_BYTES = 65_536;

/** Queue of audio that waits for a hold. The writer bounds it: audio may be only a limited time ahead of real time. */
export class AudioBacklog {
  readonly #blocks: { readonly bytes: Uint8Array; filled: number }[] = [];
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  /** Appends a copy of `audio`. */
  push(audio: Uint8Array): void {
    this.#bytes += audio.length;
    for (let at = 0; at < audio.length; ) {
      let last = this.#blocks.at(-1);
      if (last === undefined || last.filled === last.bytes.length) {
        last = { bytes: new Uint8Array(BLOCK_BYTES), filled: 0 };
        this.#blocks.push(last);
      }
      const count = Math.min(audio.length - at, last.bytes.length - last.filled);
      last.bytes.set(audio.subarray(at, at + count), last.filled);
      last.filled += count;
      at += count;
    }
  }

  /** Removes and returns the oldest block. */
  shift(): Uint8Array {
    const block = this.#blocks.shift();
    if (block === undefined) return new Uint8Array();
    this.#bytes -= block.filled;
    return block.bytes.subarray(0, block.filled);
  }

  /** Puts the unused rest of the last removed block back at the front. */
  unshift(rest: Uint8Array): void {
    if (rest.length === 0) return;
    this.#blocks.unshift({ bytes: rest, filled: rest.length });
    this.#bytes += rest.length;
  }

  clear(): void {
    this.#blocks.length = 0;
    this.#bytes = 0;
  }
}
