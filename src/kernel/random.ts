import { createCipheriv, randomBytes } from 'node:crypto';

/** Source of randomness, passed as an argument: real in the server, seeded in the simulation. */
export interface Random {
  bytes(length: number): Uint8Array;
}

/** Bytes that one call to the system brings for many ids, because a call costs 12 µs. Bytes that were handed out are wiped. */
const POOL_BYTES = 4_096;

function createPooledRandom(): Random {
  let pool = Buffer.alloc(0);
  let used = 0;
  return {
    bytes(length) {
      if (length > POOL_BYTES) return randomBytes(length);
      if (used + length > pool.length) {
        pool = randomBytes(POOL_BYTES);
        used = 0;
      }
      const bytes = Uint8Array.prototype.slice.call(pool, used, used + length);
      pool.fill(0, used, used + length);
      used += length;
      return bytes;
    },
  };
}

export const systemRandom: Random = createPooledRandom();

/**
 * Returns random bytes that depend on the 32 bytes of `seed` alone and are as hard to predict as `seed`: a stream cipher over
 * zeros.
 */
export function createSeededRandom(seed: Uint8Array): Random {
  const stream = createCipheriv('aes-256-ctr', seed, Buffer.alloc(16));
  return { bytes: (length) => stream.update(Buffer.alloc(length)) };
}

/** Hex digits of each byte value. For the few bytes of an id, a look-up costs less than a copy into a Buffer. */
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

export function randomHex(random: Random, bytes: number): string {
  let text = '';
  for (const byte of random.bytes(bytes)) text += HEX[byte];
  return text;
}

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Largest multiple of 62 below 256. Bytes from this value on are dropped, since they would favour the first letters. */
const FAIR_LIMIT = 248;

export function randomBase62(random: Random, length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of random.bytes(length)) {
      if (byte < FAIR_LIMIT && text.length < length) text += BASE62[byte % 62];
    }
  }
  return text;
}
