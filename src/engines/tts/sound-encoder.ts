/** Sound in these is written by an encoder; `wav` and `pcm` need none. */
export const ENCODED_FORMATS = ['mp3', 'opus', 'aac', 'flac'] as const;
export type EncodedFormat = (typeof ENCODED_FORMATS)[number];

/** Encodes one stream of 16-bit mono sound. */
export interface SoundEncoder {
  /** Returns the bytes that the sound adds to the file: with the first bytes the head, and none while a frame is not full. */
  push(pcm: Int16Array): Uint8Array;
  /** Returns the remaining bytes of the file. */
  finish(): Uint8Array;
  /** Gives its memory back. Owed at the end, and where a stream is given up. */
  close(): void;
}

/** The memory of a compiled encoder, which moves when it grows: it is read anew after each call. */
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
  /** The pieces of the file that this frame completes, in order. */
  encode(frame: Int16Array): readonly Uint8Array[];
  /** The pieces that the program still holds. */
  flush(): readonly Uint8Array[];
  close(): void;
};

/** Encodes sound in frames of `samples`. The pieces of the file follow each other without a head. */
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

  /** Hands each frame that is full now to `take`. The frame is used again. */
  push(pcm: Int16Array, take: (frame: Int16Array) => void): void {
    for (let at = 0; at < pcm.length; ) {
      const part = pcm.subarray(at, at + this.#frame.length - this.#filled);
      this.#frame.set(part, this.#filled);
      this.#filled += part.length;
      at += part.length;
      if (this.#filled === this.#frame.length) this.#give(take);
    }
  }

  /** Fills the last frame up with silence; there is one where it holds sound. */
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
