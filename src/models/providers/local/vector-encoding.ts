import type { VectorEncoding } from '../embedding-rail.ts';

const FLOAT_BYTES = 4;

/** Encodes a vector as little-endian 32-bit floats in base64. */
export function encodeVector(values: ArrayLike<number>): string {
  const bytes = Buffer.allocUnsafe(values.length * FLOAT_BYTES);
  for (let i = 0; i < values.length; i++) bytes.writeFloatLE(values[i] as number, i * FLOAT_BYTES);
  return bytes.toString('base64');
}

/** Decodes base64 of little-endian 32-bit floats. Undefined for any other text. */
function decodeVector(text: string): number[] | undefined {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length === 0 || bytes.length % FLOAT_BYTES !== 0) return undefined;
  const values = new Array<number>(bytes.length / FLOAT_BYTES);
  for (let i = 0; i < values.length; i++) values[i] = bytes.readFloatLE(i * FLOAT_BYTES);
  return values.every(Number.isFinite) ? values : undefined;
}

/** Returns the encoding of an answer's vector. Undefined when the value is no vector. */
export function encodingOf(vector: unknown): VectorEncoding | undefined {
  if (typeof vector === 'string') return 'base64';
  return Array.isArray(vector) ? 'float' : undefined;
}

/** Returns the vector in the requested encoding. Undefined when the value is no vector. */
export function recodeVector(
  vector: unknown,
  wanted: VectorEncoding,
): string | readonly number[] | undefined {
  if (typeof vector === 'string') return wanted === 'base64' ? vector : decodeVector(vector);
  if (!Array.isArray(vector) || !vector.every((value) => typeof value === 'number')) {
    return undefined;
  }
  return wanted === 'float' ? vector : encodeVector(vector);
}
