import type { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import * as zlib from 'node:zlib';
import { HTTP_LIMITS } from '../limits.ts';
import { requestErrors } from '../route/errors.ts';

export type Coding = 'gzip' | 'deflate' | 'br' | 'zstd';

/** Thrown when the bytes do not have the coding that their Content-Encoding names. */
export class BadCoding extends Error {
  override readonly name = 'BadCoding';
}

const OPTIONS = { chunkSize: HTTP_LIMITS.body.streamAheadBytes };

/** Decoder of zstd. Absent before Node 22.15. */
const { createZstdDecompress } = zlib as {
  readonly createZstdDecompress?: (options: typeof OPTIONS) => Transform;
};

const DECODERS: Readonly<Partial<Record<Coding, (firstByte: number) => Transform>>> = {
  gzip: () => zlib.createGunzip(OPTIONS),
  // Some clients omit the zlib wrapper, whose first byte has 8 in the low half.
  deflate: (firstByte) =>
    (firstByte & 0x0f) === 8 ? zlib.createInflate(OPTIONS) : zlib.createInflateRaw(OPTIONS),
  br: () => zlib.createBrotliDecompress(OPTIONS),
  ...(createZstdDecompress !== undefined && { zstd: () => createZstdDecompress(OPTIONS) }),
};

const KNOWN = Object.keys(DECODERS) as Coding[];

/** Returns the coding of a body. Undefined without a coding. Throws the 415 for a coding that this server does not decode. */
export function codingOf(contentEncoding: string | undefined): Coding | undefined {
  if (contentEncoding === undefined) return undefined;
  const names = contentEncoding.split(',').map((name) => name.trim().toLowerCase());
  const [name, ...more] = names.filter((each) => each !== '' && each !== 'identity');
  if (name === undefined) return undefined;
  const coding = KNOWN.find((known) => known === name || `x-${known}` === name);
  if (coding !== undefined && more.length === 0) return coding;
  throw requestErrors.unsupportedCoding(contentEncoding, KNOWN.join(', '));
}

/**
 * Undoes the coding of a body while it arrives, in the threads of the process. `onBytes` is called with the length of each
 * decoded piece and ends the decoding by an error. Throws BadCoding and the errors of `onBytes` and of the body.
 */
export async function* decoded(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  coding: Coding,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  const source = piecesOf(body);
  const first = await source.next();
  if (first.done === true) return;
  const decoder = DECODERS[coding]?.(first.value[0] as number);
  if (decoder === undefined) throw new BadCoding(coding);
  // Failures of the pipeline reach the reader of the decoder.
  pipeline(behind(first.value, source), decoder).catch(() => {});
  try {
    for await (const piece of decoder as AsyncIterable<Buffer>) {
      onBytes(piece.byteLength);
      yield piece;
    }
  } catch (error) {
    // Only the errors of zlib have a number here.
    if (typeof (error as { errno?: unknown }).errno !== 'number') throw error;
    throw new BadCoding(coding, { cause: error });
  }
}

async function* piecesOf(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  for await (const piece of body) if (piece.byteLength > 0) yield piece;
}

async function* behind(
  first: Uint8Array,
  rest: AsyncGenerator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield first;
  yield* rest;
}
