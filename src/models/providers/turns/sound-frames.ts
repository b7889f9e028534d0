import { writePcmBytes } from '../../../../media/pcm.ts';

/** Cuts 16-bit audio into frames of one size, which upstreams require. */
export class SoundFrames {
  readonly #frame: Buffer;
  readonly #send: (frame: Uint8Array) => void;
  #filled = 0;

  /** `send` copies the frame, or has put it on its way, when it returns. */
  constructor(frameBytes: number, send: (frame: Uint8Array) => void) {
    this.#frame = Buffer.alloc(frameBytes);
    this.#send = send;
  }

  push(pcm: Int16Array): void {
    for (let at = 0; at < pcm.length; ) {
      const room = (this.#frame.length - this.#filled) / 2;
      const part = pcm.subarray(at, at + room);
      writePcmBytes(part, this.#frame.subarray(this.#filled));
      this.#filled += part.length * 2;
      at += part.length;
      if (this.#filled === this.#frame.length) this.#flush();
    }
  }

  /** Sends the remaining samples, filled up with silence to a whole frame. */
  finish(): void {
    if (this.#filled === 0) return;
    this.#frame.fill(0, this.#filled);
    this.#flush();
  }

  #flush(): void {
    this.#filled = 0;
    this.#send(Buffer.from(this.#frame));
  }
}
