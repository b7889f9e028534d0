import { readFlacRate } from '../flac-head.ts';

const CAPTURE = Buffer.from('OggS');
const PAGE_HEAD = 27;
const BEGINS = 2;
const ENDS = 4;
/** Granule position of a page on which no packet ends. */
export const NO_GRANULE = 0xffff_ffff_ffff_ffffn;

export type OggPage = {
  /** True for the first page of a stream. */
  readonly begins: boolean;
  readonly ends: boolean;
  readonly granule: bigint;
  readonly serial: number;
  readonly lacing: Buffer;
  readonly body: Buffer;
};

/** Yields the pages of a file in order, and undefined for skipped bytes. */
export function* pagesIn(bytes: Buffer): Generator<OggPage | undefined> {
  for (let at = 0; at !== -1; ) {
    const page = readPage(bytes, at);
    yield page?.page;
    at = bytes.indexOf(CAPTURE, page?.end ?? at + 1);
  }
}

function readPage(
  bytes: Buffer,
  at: number,
): { readonly page: OggPage; readonly end: number } | undefined {
  if (at + PAGE_HEAD > bytes.length || bytes.compare(CAPTURE, 0, 4, at, at + 4) !== 0) {
    return undefined;
  }
  const lacing = bytes.subarray(at + PAGE_HEAD, at + PAGE_HEAD + (bytes[at + 26] as number));
  const start = at + PAGE_HEAD + lacing.length;
  let end = start;
  for (const size of lacing) end += size;
  const flags = bytes[at + 5] as number;
  const page = {
    begins: (flags & BEGINS) !== 0,
    ends: (flags & ENDS) !== 0,
    granule: bytes.readBigUInt64LE(at + 6),
    serial: bytes.readUInt32LE(at + 14),
    lacing,
    // A page that is cut short counts up to its end.
    body: bytes.subarray(start, end),
  };
  return { page, end };
}

/** The codec and the sample rate that the first packet of a stream declares. */
export type OggStreamHead =
  | { readonly codec: 'opus'; readonly preSkip: number; readonly channels: number }
  | { readonly codec: 'vorbis' | 'flac'; readonly rateHz: number };

/** Reads the head of a stream. Returns undefined when the stream has another content or its head is broken. */
export function readStreamHead(first: Buffer): OggStreamHead | undefined {
  const starts = (text: string) => first.toString('latin1', 0, text.length) === text;
  if (first.length >= 12 && starts('OpusHead')) {
    return { codec: 'opus', preSkip: first.readUInt16LE(10), channels: first[9] as number };
  }
  if (first.length >= 16 && starts('\x01vorbis')) {
    const rateHz = first.readUInt32LE(12);
    return rateHz > 0 ? { codec: 'vorbis', rateHz } : undefined;
  }
  if (starts('\x7fFLAC')) {
    // The head of a FLAC file follows nine bytes of Ogg's own.
    const rateHz = readFlacRate(first.subarray(9));
    return rateHz > 0 ? { codec: 'flac', rateHz } : undefined;
  }
  return undefined;
}
