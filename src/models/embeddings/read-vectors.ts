import { JSON_LIMITS } from '../../kernel/json/limits.ts';
import { parseJsonInTurns } from '../../kernel/json/parse-json-in-turns.ts';
import { isObject } from '../../kernel/json.ts';

/**
 * Reads the vectors of a list of embeddings in base64, scales each to the length 1, and returns them in the order of their
 * inputs. Undefined when an index repeats, or a vector is invalid or zero.
 */
export async function readUnitVectors(body: Uint8Array): Promise<Float32Array[] | undefined> {
  const list = await parseJsonInTurns(Buffer.from(body), JSON_LIMITS.upstream);
  if (!isObject(list) || !Array.isArray(list.data)) return undefined;
  const vectors = new Map<unknown, Float32Array>();
  for (const [place, item] of list.data.entries()) {
    if (!isObject(item) || typeof item.embedding !== 'string') return undefined;
    const vector = unitVectorOf(item.embedding);
    if (vector === undefined) return undefined;
    vectors.set(item.index ?? place, vector);
  }
  const inOrder = list.data.flatMap((_, place) => vectors.get(place) ?? []);
  return inOrder.length === list.data.length ? inOrder : undefined;
}

function unitVectorOf(base64: string): Float32Array | undefined {
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length === 0 || bytes.length % 4 !== 0) return undefined;
  const vector = new Float32Array(Uint8Array.from(bytes).buffer);
  const squares = vector.reduce((sum, value) => sum + value * value, 0);
  if (!Number.isFinite(squares) || squares === 0) return undefined;
  const scale = 1 / Math.sqrt(squares);
  return vector.map((value) => value * scale);
}
