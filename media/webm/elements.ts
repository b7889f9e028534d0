/** EBML, the format of WebM and Matroska: a number has one byte more than its first byte has leading zero bits. */

const SEGMENT = 0x18538067;
const CLUSTER = 0x1f43b675;
const BLOCK_GROUP = 0xa0;
const INFO = 0x1549a966;

/** Elements whose children are read. Their own lengths are ignored, because a streaming recorder does not know them. */
const ENTERED: ReadonlySet<number> = new Set([SEGMENT, INFO, CLUSTER, BLOCK_GROUP]);

export type Element = { readonly id: number; readonly start: number; readonly end: number };

/**
 * Yields the elements of a file in order, with the position of their content; undefined for an element whose children follow.
 */
export function* elementsIn(bytes: Buffer): Generator<Element | undefined> {
  for (let at = 0; at < bytes.length; ) {
    const id = readNumber(bytes, at, 4, false);
    const size = id && readNumber(bytes, at + id.bytes, 8, true);
    if (id === undefined || size === undefined) return;
    const start = at + id.bytes + size.bytes;
    if (ENTERED.has(id.value)) {
      yield undefined;
      at = start;
      continue;
    }
    const end = Math.min(start + size.value, bytes.length);
    yield { id: id.value, start, end };
    at = start + size.value;
  }
}

/** Returns the children of one element, up to `MAX_CHILDREN`, more than any track has. */
export function childrenOf(bytes: Buffer): ReadonlyMap<number, Buffer> {
  const children = new Map<number, Buffer>();
  for (const child of elementsIn(bytes)) {
    if (child !== undefined && !children.has(child.id)) {
      children.set(child.id, bytes.subarray(child.start, child.end));
    }
    if (children.size >= MAX_CHILDREN) break;
  }
  return children;
}

const MAX_CHILDREN = 64;

/**
 * Reads an id or a length; undefined when it is incomplete. An id keeps the marker bit after its leading zeros; a length
 * (`withoutMark`) drops it.
 */
export function readNumber(
  bytes: Buffer,
  at: number,
  maxBytes: number,
  withoutMark: boolean,
): { readonly value: number; readonly bytes: number } | undefined {
  const first = bytes[at];
  if (first === undefined || first === 0) return undefined;
  const length = Math.clz32(first) - 23;
  if (length > maxBytes || at + length > bytes.length) return undefined;
  let value = withoutMark ? first & (0xff >> length) : first;
  for (let i = 1; i < length; i++) value = value * 256 + (bytes[at + i] as number);
  return { value, bytes: length };
}

export const unsigned = (data: Buffer): number =>
  data.length === 0 || data.length > 8 ? 0 : data.reduce((value, byte) => value * 256 + byte, 0);

export function float(data: Buffer): number {
  const value =
    data.length === 4 ? data.readFloatBE() : data.length === 8 ? data.readDoubleBE() : 0;
  return Number.isFinite(value) ? value : 0;
}
