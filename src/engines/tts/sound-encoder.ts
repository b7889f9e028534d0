/** Audio formats that need an encoder; `wav` and `pcm` need none. */
export const ENCODED_FORMATS = ['mp3', 'opus', 'aac', 'flac'] as const;
export type EncodedFormat = (typeof ENCODED_FORMATS)[number];

/** Encodes one stream of 16-bit mono sound. */
export interface SoundEncoder {
  /** Returns the bytes that the sound adds to the file: with the first bytes the head, and none while a frame is not full. */
  push(pcm: Int16Array): Uint8Array;
  /** Returns the remaining bytes of the file. */
  finish(): Uint8Array;
  /** Frees the encoder's memory. Must be called at the end, and when a stream is given up. */
  close(): void;
}

/** The memory of a compiled encoder. It moves when it grows, so `HEAPU8` is read anew after each call. */
export type EncoderModule = {
  readonly HEAPU8: Uint8Array;
  _malloc(bytes: number): number;
  _free(pointer: number): void;
};

/** Returns a copy of bytes in an encoder's memory. */
export const copyOut = (module: EncoderModule, pointer: number, bytes: number): Uint8Array =>
  module.HEAPU8.slice(pointer, pointer + bytes);

/** A program that encodes frames of one length. */
export type FrameProgram = {
  /** Returns the pieces of the file that this frame completes, in order. */
  encode(frame: Int16Array): readonly Uint8Array[];
  /** Returns the pieces of the file that the program still holds. */
  flush(): readonly Uint8Array[];
  close(): void;
};

/** Creates an encoder that cuts audio into frames of `samples`. The file has no head before its pieces. */
export function createFrameEncoder(samples: number, program: FrameProgram): SoundEncoder {
  const cutter = new FrameCutter(samples);
  return {
    push(pcm) {
      const made: Uint8Array[] = [];
      cutter.push(pcm, (frame) => made.push(...program.encode(frame)));
      return Buffer.concat(made);
    },
    finish() {
      const made: Uint8Array[] = [];
      cutter.flush((frame) => made.push(...program.encode(frame)));
      return Buffer.concat([...made, ...program.flush()]);
    },
    close: () => program.close(),
  };
}

/** Cuts sound of any length into frames of the length that an encoder takes. */
export class FrameCutter {
  readonly #frame: Int16Array;
  #filled = 0;

  constructor(samples: number) {
    this.#frame = new Int16Array(samples);
  }

  /** Passes each full frame to `take`. The frame's array is reused. */
  push(pcm: Int16Array, take: (frame: Int16Array) => void): void {
    for (let at = 0; at < pcm.length; ) {
      const part = pcm.subarray(at, at + this.#frame.length - this.#filled);
      this.#frame.set(part, this.#filled);
      this.#filled += part.length;
      at += part.length;
      if (this.#filled === this.#frame.length) this.#give(take);
    }
  }

  /** Pads the last frame with silence and passes it to `take`. Does nothing when no samples are left. */
  flush(take: (frame: Int16Array) => void): void {
    if (this.#filled === 0) return;
    this.#frame.fill(0, this.#filled);
    this.#give(take);
  }

  #give(take: (frame: Int16Array) => void): void {
    this.#filled = 0;
    take(this.#frame);
  }
}
