import { createHash } from 'node:crypto';
import { MEMORY_LIMITS } from '../limits.ts';
import type { Codec } from './buy-once.ts';
import type { FactsOutcome } from './draw-facts.ts';

const COUNT_BYTES = 4;
const HEAD_BYTES = COUNT_BYTES + 32;

/**
 * Returns a codec for one vector per text, all of equal length: the number of vectors, a hash of the model and the texts, then
 * the numbers, little-endian in 32 bits. Decodes only for the same model and texts, and only vectors of `dims` numbers (0: any
 * number).
 */
export function vectorCodec(of: {
  readonly model: string;
  readonly texts: readonly string[];
  readonly dims: number;
}): Codec<readonly Float32Array[]> {
  const count = of.texts.length;
  const head = Buffer.alloc(COUNT_BYTES);
  head.writeUInt32LE(count);
  const hash = createHash('sha256').update(JSON.stringify([of.model, of.texts]));
  const whole = Buffer.concat([head, hash.digest()]);
  return {
    encode: (vectors) =>
      Buffer.concat([
        whole,
        ...vectors.map(({ buffer, byteLength, byteOffset }) =>
          Buffer.from(buffer, byteOffset, byteLength),
        ),
      ]),
    decode(bytes) {
      // Another version of this server, or other facts, may cut the item into other pieces.
      if (!bytes.subarray(0, HEAD_BYTES).equals(whole)) return undefined;
      // A copy begins at a multiple of four bytes, which the bytes of a row may not.
      const all = new Float32Array(new Uint8Array(bytes.subarray(HEAD_BYTES)).buffer);
      const dims = all.length / count;
      if (of.dims !== 0 && of.dims !== dims) return undefined;
      return Array.from({ length: count }, (_, n) => all.slice(n * dims, (n + 1) * dims));
    },
  };
}

/** Encodes facts as a list. When there are no facts, encodes an object with the reason. */
export const factsCodec: Codec<FactsOutcome> = {
  encode: ({ facts, inferError }) =>
    Buffer.from(JSON.stringify(inferError === null ? facts : { inferError })),
  decode(bytes) {
    const told = JSON.parse(bytes.toString()) as string[] | { readonly inferError: string };
    return Array.isArray(told)
      ? { facts: told, inferError: null }
      : { facts: [], inferError: told.inferError };
  },
};

/**
 * Returns true when vectors can be searched: as many vectors as texts, all of one length, and no longer than the index allows.
 */
export function areSearchable(vectors: readonly Float32Array[], count: number): boolean {
  const dims = vectors[0]?.length ?? 0;
  const fits = dims > 0 && dims <= MEMORY_LIMITS.index.dims && vectors.length === count;
  return fits && vectors.every(({ length }) => length === dims);
}
