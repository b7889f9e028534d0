import type { Random } from '../../../kernel/random.ts';

const POOL_BYTES = 4_096;

/**
 * Masks for frames to upstreams, drawn from one pool of chance. Never four zeros: a frame under those is sent without
 * being copied, out of memory that is not ours any more when it leaves.
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
