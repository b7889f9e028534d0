import { SoundRefused } from '../../../media/coded/packets.ts';
import { HearingFrames, type SoundBlock } from '../../../media/hearing-frames.ts';
import { ENGINE_LIMITS } from '../limits.ts';
import { monoSound } from './mono-sound.ts';

/** A few seconds of decoded audio of a file. */
export type HeardBatch = {
  /** Whole 20 ms frames at 16 kHz. May be empty before the end of the file. */
  readonly pcm: Int16Array;
  /** Duration of the audio up to now in milliseconds, without the padding of the last frame. */
  readonly soundMs: number;
  readonly isEnd: boolean;
};

const { batchBlocks, batchSamples, slackMs } = ENGINE_LIMITS.decoding;

/** Decodes a file to the recognisers' format, in batches of bounded work. */
export class HeardFile {
  readonly #blocks: AsyncGenerator<SoundBlock>;
  readonly #frames = new HearingFrames();
  readonly #mostMs: number;
  #seconds = 0;

  /** `statedMs` is the duration that was measured before decoding. Audio beyond it is refused. */
  constructor(file: Buffer, statedMs: number) {
    this.#blocks = monoSound(file);
    this.#mostMs = statedMs + slackMs;
  }

  /** Returns the next batch. Throws SoundRefused for audio that cannot be decoded or is longer than stated. */
  async next(): Promise<HeardBatch> {
    const parts: Int16Array[] = [];
    let samples = 0;
    for (let blocks = 0; blocks < batchBlocks && samples < batchSamples; blocks++) {
      const block = await this.#blocks.next();
      const part = block.done === true ? this.#end() : this.#heard(block.value);
      parts.push(part);
      samples += part.length;
      if (block.done === true) return this.#batch(parts, samples, true);
    }
    return this.#batch(parts, samples, false);
  }

  #heard(block: SoundBlock): Int16Array {
    if (block.samples.length === 0) return block.samples;
    this.#seconds += block.samples.length / block.rateHz;
    if (this.#seconds * 1_000 > this.#mostMs) {
      throw new SoundRefused(
        'The file holds more sound than it states. Send it as it was written.',
      );
    }
    return this.#frames.push(block);
  }

  #end(): Int16Array {
    if (this.#seconds === 0) throw new SoundRefused('The file holds no sound that can be decoded.');
    return this.#frames.end();
  }

  #batch(parts: readonly Int16Array[], samples: number, isEnd: boolean): HeardBatch {
    const pcm = new Int16Array(samples);
    let at = 0;
    for (const part of parts) {
      pcm.set(part, at);
      at += part.length;
    }
    return { pcm, soundMs: Math.ceil(this.#seconds * 1_000 - 1e-6), isEnd };
  }
}
