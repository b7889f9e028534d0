import type { Random } from '../../../kernel/random.ts';

const POOL_BYTES = 4_096;

/**
 * Creates masks for frames to upstreams from one pool of random bytes. A mask is never four zeros: a frame with such a mask is
 * sent without a copy, from memory that may be reused before the frame is sent.
 */
export function createMaskSource(random: Random): (mask: Uint8Array) => void {
  let pool: Uint8Array = new Uint8Array();
  let used = 0;
  return (mask) => {
    if (used + 4 > pool.length) {
      pool = random.bytes(POOL_BYTES);
      used = 0;
    }
    mask.set(pool.subarray(used, used + 4));
    mask[3] = (mask[3] ?? 0) | 1;
    used += 4;
  };
}
