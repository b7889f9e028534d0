/**
 * Encodes and decodes G.711 A-law, the coding of European trunks: 8 kHz, one byte per sample. Decoded samples are 16-bit
 * linear. Both directions write into the caller's memory and allocate nothing per packet.
 */
import { decoderOf } from './g711.ts';

/** Bits that A-law inverts in transmission, every other one, so that silence is not a constant signal. */
const TOGGLE = 0x55;

const CODES = Uint8Array.from({ length: 65_536 }, (_, bits) => compress((bits << 16) >> 16));

function expand(code: number): number {
  const bits = code ^ TOGGLE;
  const segment = (bits >> 4) & 0x07;
  const step = ((bits & 0x0f) << 4) + 8;
  const magnitude = segment === 0 ? step : (step + 0x100) << (segment - 1);
  // A set sign bit means positive in A-law, the opposite of mu-law.
  return (bits & 0x80) === 0 ? -magnitude : magnitude;
}

function compress(sample: number): number {
  const sign = sample < 0 ? 0 : 0x80;
  const magnitude = sample < 0 ? ~sample : sample;
  const segment = Math.max(0, 24 - Math.clz32(magnitude));
  const step = (magnitude >> (segment === 0 ? 4 : segment + 3)) & 0x0f;
  return (sign | (segment << 4) | step) ^ TOGGLE;
}

/** Decodes all of `source` into the front of `target` and returns how many samples it wrote. */
export const decodeAlaw = decoderOf(Int16Array.from({ length: 256 }, (_, code) => expand(code)));

/** Encodes all of `source` into the front of `target` and returns how many bytes it wrote. */
export function encodeAlaw(source: Int16Array, target: Uint8Array): number {
  if (target.length < source.length) throw new RangeError('encodeAlaw: target is too short');
  for (let i = 0; i < source.length; i++) {
    target[i] = CODES[(source[i] as number) & 0xffff] as number;
  }
  return source.length;
}
