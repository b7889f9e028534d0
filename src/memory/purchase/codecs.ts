import { LIMITS } from '../../kernel/limits.ts';
import type { Codec } from './buy-once.ts';

const COUNT_BYTES = 4;

/** So many vectors of equal length: their number, then their numbers, little-endian in 32 bits each. */
export const vectorCodec = (count: number): Codec<readonly Float32Array[]> => ({
  encode(vectors) {
    const head = Buffer.alloc(COUNT_BYTES);
    head.writeUInt32LE(vectors.length);
    const bodies = vectors.map(({ buffer, byteLength, byteOffset }) =>
      Buffer.from(buffer, byteOffset, byteLength),
    );
    return Buffer.concat([head, ...bodies]);
  },
  decode(bytes) {
    // Another version of this server may have cut the item into other pieces.
    if (bytes.length <= COUNT_BYTES || bytes.readUInt32LE() !== count) return undefined;
    const all = new Float32Array(Uint8Array.from(bytes.subarray(COUNT_BYTES)).buffer);
    const dims = all.length / count;
    return Array.from({ length: count }, (_, n) => all.slice(n * dims, (n + 1) * dims));
  },
});

export const factsCodec: Codec<readonly string[]> = {
  encode: (facts) => Buffer.from(JSON.stringify(facts)),
  decode: (bytes) => JSON.parse(bytes.toString()) as string[],
};

/** Whether vectors can be searched: as many as texts, all of one length, and no longer than an index takes. */
export function areSearchable(vectors: readonly Float32Array[], count: number): boolean {
  const dims = vectors[0]?.length ?? 0;
  const fits = dims > 0 && dims <= LIMITS.memory.indexDims && vectors.length === count;
  return fits && vectors.every(({ length }) => length === dims);
}
