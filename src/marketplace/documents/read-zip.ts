import { inflateRaw } from 'node:zlib';

/** One file of an archive, by the archive's directory. */
export type ZipEntry = {
  readonly name: string;
  readonly bytes: number;
  readonly isDeflated: boolean;
  readonly at: number;
  readonly packedBytes: number;
};

const END = 0x06054b50;
const DIRECTORY = 0x02014b50;
const LOCAL = 0x04034b50;
/** Bytes of the end record of the directory, and of the longest comment that may follow it. */
const END_BYTES = 22;
const COMMENT_BYTES = 65_535;

export const isZip = (bytes: Buffer): boolean =>
  bytes.length >= END_BYTES && (bytes.readUInt32LE(0) === LOCAL || bytes.readUInt32LE(0) === END);

/**
 * Returns the files of a ZIP archive (APPNOTE 6.3.10), without folders. Undefined when the bytes are no ZIP archive,
 * have more than `mostEntries` entries, are encrypted, or are a 64-bit archive, which none of these sizes is.
 */
export function readZip(archive: Buffer, mostEntries: number): readonly ZipEntry[] | undefined {
  const end = findEnd(archive);
  if (end === undefined) return undefined;
  const count = archive.readUInt16LE(end + 10);
  if (count > mostEntries) return undefined;
  const entries: ZipEntry[] = [];
  let at = archive.readUInt32LE(end + 16);
  for (let index = 0; index < count; index++) {
    if (at + 46 > end || archive.readUInt32LE(at) !== DIRECTORY) return undefined;
    const nameBytes = archive.readUInt16LE(at + 28);
    const rest = archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
    const method = archive.readUInt16LE(at + 10);
    const isEncrypted = (archive.readUInt16LE(at + 8) & 1) === 1;
    if (isEncrypted || (method !== 0 && method !== 8)) return undefined;
    const name = archive.toString('utf8', at + 46, at + 46 + nameBytes);
    if (!name.endsWith('/')) {
      entries.push({
        name,
        isDeflated: method === 8,
        packedBytes: archive.readUInt32LE(at + 20),
        bytes: archive.readUInt32LE(at + 24),
        at: archive.readUInt32LE(at + 42),
      });
    }
    at += 46 + nameBytes + rest;
  }
  return entries;
}

function findEnd(archive: Buffer): number | undefined {
  const mark = Buffer.alloc(4);
  mark.writeUInt32LE(END);
  const last = archive.length - END_BYTES;
  if (last < 0) return undefined;
  // The mark is searched only as far back as the longest comment reaches: a longer search is slow on bytes that repeat the
  // mark's beginning.
  const from = Math.max(0, last - COMMENT_BYTES);
  const at = archive.subarray(from).lastIndexOf(mark, last - from);
  return at >= 0 ? from + at : undefined;
}

/**
 * Returns the content of one file of an archive. Undefined when it is broken or longer than `mostBytes`, whatever size
 * its entry states.
 */
export async function readEntry(
  archive: Buffer,
  { at, isDeflated, packedBytes }: ZipEntry,
  mostBytes: number,
): Promise<Buffer | undefined> {
  if (at + 30 > archive.length || archive.readUInt32LE(at) !== LOCAL) return undefined;
  const from = at + 30 + archive.readUInt16LE(at + 26) + archive.readUInt16LE(at + 28);
  const packed = archive.subarray(from, from + packedBytes);
  if (packed.length !== packedBytes) return undefined;
  if (!isDeflated) return packed.length <= mostBytes ? packed : undefined;
  return new Promise((resolve) => {
    inflateRaw(packed, { maxOutputLength: mostBytes }, (error, bytes) => {
      resolve(error === null ? bytes : undefined);
    });
  });
}
