/**
 * 16-bit signed linear PCM, mono. Inside the server sound is an Int16Array; on the wire it is little-endian bytes, which may
 * be cut in the middle of a sample.
 */

import { kernel, MOST_SAMPLES } from './kernel.ts';

/** Decodes bytes into samples. The first byte of a sample is kept until its second byte arrives. */
export class PcmByteReader {
  #low = 0;
  #hasLow = false;

  /** Number of bytes that wait for the other half of their sample. At the end of a stream such a byte is lost. */
  get pendingBytes(): 0 | 1 {
    return this.#hasLow ? 1 : 0;
  }

  /** Returns the number of samples that the next `byteCount` bytes complete: the least length of the target of `push`. */
  samplesIn(byteCount: number): number {
    return (byteCount + this.pendingBytes) >> 1;
  }

  /** Writes every completed sample into the front of `target` and returns how many it wrote. */
  push(bytes: Uint8Array, target: Int16Array): number {
    const count = this.samplesIn(bytes.length);
    if (target.length < count) throw new RangeError('PcmByteReader: target is too short');
    let read = 0;
    let written = 0;
    if (this.#hasLow && bytes.length > 0) {
      target[written++] = this.#low | ((bytes[read++] as number) << 8);
      this.#hasLow = false;
    }
    while (written < count) {
      target[written++] = (bytes[read] as number) | ((bytes[read + 1] as number) << 8);
      read += 2;
    }
    if (read < bytes.length) {
      this.#low = bytes[read] as number;
      this.#hasLow = true;
    }
    return count;
  }

  reset(): void {
    this.#hasLow = false;
  }
}

/** Writes samples as little-endian bytes into the front of `target`. Returns the number of bytes written. */
export function writePcmBytes(samples: Int16Array, target: Uint8Array): number {
  const bytes = samples.length * 2;
  if (target.length < bytes) throw new RangeError('writePcmBytes: target is too short');
  for (let i = 0; i < samples.length; i++) {
    const sample = samples[i] as number;
    target[2 * i] = sample;
    target[2 * i + 1] = sample >> 8;
  }
  return bytes;
}

/** Returns the nearest 16-bit sample. NaN becomes silence. */
export function clampSample(value: number): number {
  if (value >= 32_767) return 32_767;
  if (value <= -32_768) return -32_768;
  return Math.round(value) || 0;
}

/** Returns the mean square of the samples; 0 when there are none. */
export function energy(samples: Int16Array): number {
  let sum = 0;
  for (let at = 0; at < samples.length; at += MOST_SAMPLES) {
    const isAll = samples.length <= MOST_SAMPLES;
    const block = isAll ? samples : samples.subarray(at, at + MOST_SAMPLES);
    const whole = Math.ceil(block.length / 8) * 8;
    kernel.input.set(block);
    if (whole > block.length) kernel.input.fill(0, block.length, whole);
    sum += kernel.squares(whole);
  }
  return sum / Math.max(1, samples.length);
}

/** Writes samples as floats from -1 to 1, the recognisers' input, into the front of `target`. */
export function writeFloats(samples: Int16Array, target: Float32Array): number {
  if (target.length < samples.length) throw new RangeError('writeFloats: target is too short');
  for (let i = 0; i < samples.length; i++) target[i] = (samples[i] as number) / 32_768;
  return samples.length;
}
