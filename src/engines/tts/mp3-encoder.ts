import { writePcmBytes } from '../../../media/pcm.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { copyOut, type EncoderModule, FrameCutter, type SoundEncoder } from './sound-encoder.ts';

export type LameModule = EncoderModule & {
  _init_lame(channels: number, sampleRateHz: number, bitsPerSecond: number): number;
  _encode_samples(
    lame: number,
    left: number,
    right: number,
    samples: number,
    target: number,
    targetBytes: number,
  ): number;
  _flush_lame(lame: number, target: number, targetBytes: number): number;
  _close_lame(lame: number): void;
};

/** MPEG-2 has frames of this length. */
const BLOCK_SAMPLES = 576;
/** What LAME asks for: a quarter more than the samples, and what it may have kept back. */
const TARGET_BYTES = 1.25 * BLOCK_SAMPLES + 7_200;

/** MP3 at a constant bit rate, so that players know its length by its size. */
export function createMp3Encoder(module: LameModule, sampleRateHz: number): SoundEncoder {
  const lame = module._init_lame(1, sampleRateHz, LIMITS.engines.encoding.bitsPerSecond.mp3);
  const source = module._malloc(2 * BLOCK_SAMPLES);
  const target = module._malloc(TARGET_BYTES);
  const cutter = new FrameCutter(BLOCK_SAMPLES);
  const bytes = new Uint8Array(2 * BLOCK_SAMPLES);
  let made: Uint8Array[] = [];

  function taken(length: number) {
    if (length < 0) throw new Error(`the MP3 encoder failed with ${length}`);
    if (length > 0) made.push(copyOut(module, target, length));
  }

  function encode(frame: Int16Array) {
    writePcmBytes(frame, bytes);
    module.HEAPU8.set(bytes, source);
    taken(module._encode_samples(lame, source, source, BLOCK_SAMPLES, target, TARGET_BYTES));
  }

  function file() {
    const all = Buffer.concat(made);
    made = [];
    return all;
  }

  return {
    push(pcm) {
      cutter.push(pcm, encode);
      return file();
    },
    finish() {
      cutter.flush(encode);
      taken(module._flush_lame(lame, target, TARGET_BYTES));
      return file();
    },
    close() {
      module._close_lame(lame);
      module._free(source);
      module._free(target);
    },
  };
}
