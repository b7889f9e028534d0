import { writePcmBytes } from '../../../media/pcm.ts';
import { ENGINE_LIMITS } from '../limits.ts';
import {
  copyOut,
  createFrameEncoder,
  type EncoderModule,
  type SoundEncoder,
} from './sound-encoder.ts';

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

/** Samples per MPEG-2 frame. */
const BLOCK_SAMPLES = 576;
/** Size of LAME's output buffer: 1.25 times the samples, and 7200 bytes for samples that it kept back. */
const TARGET_BYTES = 1.25 * BLOCK_SAMPLES + 7_200;

/** Creates an MP3 encoder with a constant bit rate, so that players derive the duration from the file's size. */
export function createMp3Encoder(module: LameModule, sampleRateHz: number): SoundEncoder {
  const lame = module._init_lame(1, sampleRateHz, ENGINE_LIMITS.encoding.bitsPerSecond.mp3);
  const source = module._malloc(2 * BLOCK_SAMPLES);
  const target = module._malloc(TARGET_BYTES);
  const bytes = new Uint8Array(2 * BLOCK_SAMPLES);

  function written(length: number): Uint8Array[] {
    if (length < 0) throw new Error(`the MP3 encoder failed with ${length}`);
    return [copyOut(module, target, length)];
  }

  return createFrameEncoder(BLOCK_SAMPLES, {
    encode(frame) {
      writePcmBytes(frame, bytes);
      module.HEAPU8.set(bytes, source);
      return written(
        module._encode_samples(lame, source, source, BLOCK_SAMPLES, target, TARGET_BYTES),
      );
    },
    flush: () => written(module._flush_lame(lame, target, TARGET_BYTES)),
    close() {
      module._close_lame(lame);
      module._free(source);
      module._free(target);
    },
  });
}
