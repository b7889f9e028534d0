import { ADTS_RATES_HZ } from '../adts.ts';

const LOW_COMPLEXITY = 2;
/** Object types of spectral band replication and parametric stereo. The decoder detects both in the packets. */
const EXTENDED: readonly number[] = [5, 29];
const ESCAPE = { objectType: 31, rate: 15 };
const MOST_CHANNELS_CONFIG = 7;

/**
 * Returns the rate and channels in the configuration of an MP4 or WebM file's AAC packets; undefined unless it is
 * low-complexity AAC.
 */
export function readAacConfig(
  config: Uint8Array,
): { readonly rateHz: number; readonly channels: number } | undefined {
  const bits = new Bits(config);
  const stated = objectType(bits);
  const rateHz = rate(bits);
  const channels = bits.read(4);
  if (EXTENDED.includes(stated)) rate(bits);
  const core = EXTENDED.includes(stated) ? objectType(bits) : stated;
  const isShort = bits.read(1) === 1;
  const isRead =
    core === LOW_COMPLEXITY && !isShort && channels > 0 && channels <= MOST_CHANNELS_CONFIG;
  return isRead && ADTS_RATES_HZ.includes(rateHz) ? { rateHz, channels } : undefined;
}

function objectType(bits: Bits): number {
  const type = bits.read(5);
  return type === ESCAPE.objectType ? 32 + bits.read(6) : type;
}

function rate(bits: Bits): number {
  const index = bits.read(4);
  return index === ESCAPE.rate ? bits.read(24) : (ADTS_RATES_HZ[index] ?? 0);
}

class Bits {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Reads a number of `count` bits. Bits beyond the end are zeros. */
  read(count: number): number {
    let value = 0;
    for (let i = 0; i < count; i++, this.#at++) {
      value = value * 2 + (((this.#bytes[this.#at >> 3] ?? 0) >> (7 - (this.#at & 7))) & 1);
    }
    return value;
  }
}
