export type Box = {
  readonly type: string;
  /** Offset of the box in the bytes that were searched. */
  readonly at: number;
  readonly data: Buffer;
};

const MAX_BOXES = 100_000;

/** Returns the sibling boxes in a range of bytes. A box that claims more bytes than exist ends with the range. */
export function boxesOf(bytes: Buffer | undefined): Box[] {
  const boxes: Box[] = [];
  if (bytes === undefined) return boxes;
  for (let at = 0; at + 8 <= bytes.length && boxes.length < MAX_BOXES; ) {
    const stated = bytes.readUInt32BE(at);
    const isLong = stated === 1 && at + 16 <= bytes.length;
    const head = isLong ? 16 : 8;
    const size = isLong ? Number(bytes.readBigUInt64BE(at + 8)) : stated;
    const end = stated === 0 ? bytes.length : Math.min(at + size, bytes.length);
    if (end < at + head) break;
    boxes.push({
      type: bytes.toString('latin1', at + 4, at + 8),
      at,
      data: bytes.subarray(at + head, end),
    });
    at = end;
  }
  return boxes;
}

/** Returns the content of the first box of a type; undefined when there is none. */
export const find = (boxes: readonly Box[], type: string): Buffer | undefined =>
  boxes.find((box) => box.type === type)?.data;

/** Returns a number of a box; 0 when the box ends before the number. */
export const uint32 = (data: Buffer, at: number): number =>
  at + 4 <= data.length ? data.readUInt32BE(at) : 0;

/**
 * Returns a fragment's default for each sample: the duration (flag 8) or the size (flag 16). Undefined when it is not stated.
 */
export function fragmentDefault(head: Buffer, flag: 0x08 | 0x10): number | undefined {
  const flags = uint32(head, 0);
  if ((flags & flag) === 0) return undefined;
  let at = (flags & 0x01) === 0 ? 8 : 16;
  for (const earlier of [0x02, 0x08]) {
    if (earlier < flag && (flags & earlier) !== 0) at += 4;
  }
  return uint32(head, at);
}
