/** The latest audio of a line in one ring, which grows with the audio to keep. Positions count bytes since the last clear. */
export class KeptSound {
  #ring = new Uint8Array(0);
  #begin = 0;
  #end = 0;

  /** Appends a copy of the bytes. */
  push(bytes: Uint8Array): void {
    const needed = this.#end - this.#begin + bytes.length;
    if (needed > this.#ring.length) this.#grow(Math.max(needed, 2 * this.#ring.length));
    this.#write(this.#end, bytes);
    this.#end += bytes.length;
  }

  /** Drops the bytes before `position`. */
  forget(position: number): void {
    this.#begin = Math.min(this.#end, Math.max(this.#begin, position));
  }

  /** Returns a copy of the kept bytes between two positions. */
  copy(from: number, to: number): Uint8Array {
    const first = Math.max(from, this.#begin);
    const length = Math.max(0, Math.min(to, this.#end) - first);
    const copy = new Uint8Array(length);
    if (length === 0) return copy;
    const place = first % this.#ring.length;
    const head = Math.min(length, this.#ring.length - place);
    copy.set(this.#ring.subarray(place, place + head));
    copy.set(this.#ring.subarray(0, length - head), head);
    return copy;
  }

  clear(): void {
    this.#begin = 0;
    this.#end = 0;
  }

  #grow(length: number): void {
    const kept = this.copy(this.#begin, this.#end);
    this.#ring = new Uint8Array(length);
    this.#write(this.#begin, kept);
  }

  #write(position: number, bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    const place = position % this.#ring.length;
    const head = Math.min(bytes.length, this.#ring.length - place);
    this.#ring.set(head === bytes.length ? bytes : bytes.subarray(0, head), place);
    if (head < bytes.length) this.#ring.set(bytes.subarray(head), 0);
  }
}
