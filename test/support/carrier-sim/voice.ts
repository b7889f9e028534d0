const SILENCE = 0xff;
const FRAME_BYTES = 160;
const BYTES_PER_MS = 8;

/** What the far side of a call says, in mu-law at 8 kHz, by the milliseconds since its answer. */
export class Voice {
  readonly #said: { readonly atMs: number; readonly bytes: Uint8Array }[] = [];

  /** Says something from then on. Answers how long it takes. */
  say(atMs: number, bytes: Uint8Array): number {
    this.#said.push({ atMs: Math.ceil(atMs), bytes });
    return bytes.length / BYTES_PER_MS;
  }

  /** The frame of 20 ms that begins then. */
  soundAt(atMs: number): Uint8Array {
    const frame = Buffer.alloc(FRAME_BYTES, SILENCE);
    for (const { atMs: start, bytes } of this.#said) {
      const from = (atMs - start) * BYTES_PER_MS;
      if (from <= -FRAME_BYTES || from >= bytes.length) continue;
      frame.set(bytes.subarray(Math.max(0, from), from + FRAME_BYTES), Math.max(0, -from));
    }
    return frame;
  }
}
