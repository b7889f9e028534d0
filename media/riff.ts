/** Reads RIFF WAVE files. Stated sizes are checked against the file's bytes, and the number of chunks is bounded. */

type RiffChunk = { readonly name: string; readonly start: number; readonly size: number };

const MAX_CHUNKS = 64;
const EXTENSIBLE = 0xfffe;

const isRiffWave = (bytes: Uint8Array): boolean =>
  bytes.length >= 12 && fourLetters(bytes, 0) === 'RIFF' && fourLetters(bytes, 8) === 'WAVE';

/** Yields the chunks of a file in their order. A chunk's `size` may exceed the bytes that the file has. */
function* riffChunks(bytes: Uint8Array): Generator<RiffChunk> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 12;
  for (let chunks = 0; chunks < MAX_CHUNKS && at + 8 <= bytes.length; chunks++) {
    const size = view.getUint32(at + 4, true);
    const start = at + 8;
    yield { name: fourLetters(bytes, at), start, size };
    // Chunks are padded to an even length.
    at = start + size + (size & 1);
  }
}

/** Returns the bytes of a data chunk that exist, in whole frames. `truncated` is true when the header states more. */
export function dataInFile(
  bytes: Uint8Array,
  { start, size }: Pick<RiffChunk, 'start' | 'size'>,
  bytesPerFrame: number,
): { readonly data: Uint8Array; readonly truncated: boolean } {
  // A program that streams its output cannot know the length and writes 0 or the largest number.
  const unknown = size === 0xffff_ffff || (size === 0 && start < bytes.length);
  const there = Math.max(0, bytes.length - start);
  const wanted = unknown ? there : Math.min(size, there);
  const whole = wanted - (wanted % bytesPerFrame);
  return { data: bytes.subarray(start, start + whole), truncated: !unknown && size > there };
}

export type WavRefusal = { readonly kind: 'refused'; readonly reason: string };

export const refused = (reason: string): WavRefusal => ({ kind: 'refused', reason });

const isRefused = (parsed: object): parsed is WavRefusal => 'kind' in parsed;

/** Claims of a fmt chunk. In the extensible form, `tag` is the one inside the extension. */
export type FormatClaims = {
  readonly tag: number;
  readonly channels: number;
  readonly sampleRateHz: number;
  readonly bits: number;
  /** Bytes of one sample of every channel, or of a block of packed samples. */
  readonly blockBytes: number;
};

/** Finds the sound in a WAV file. `formatOf` derives the format from the fmt chunk's claims, or refuses them. */
export function readWave<F extends object>(
  bytes: Uint8Array,
  formatOf: (claims: FormatClaims) => F | WavRefusal,
  bytesPerFrame: (format: F) => number,
): (F & ReturnType<typeof dataInFile> & { readonly kind: 'parsed' }) | WavRefusal {
  if (!isRiffWave(bytes)) return refused('not a RIFF WAVE file');
  let format: F | undefined;
  for (const chunk of riffChunks(bytes)) {
    if (chunk.name === 'fmt ') {
      const claims = readFormat(bytes, chunk);
      const parsed = isRefused(claims) ? claims : formatOf(claims);
      if (isRefused(parsed)) return parsed;
      format = parsed;
    } else if (chunk.name === 'data') {
      if (format === undefined) return refused('the data chunk comes before the fmt chunk');
      return { kind: 'parsed', ...format, ...dataInFile(bytes, chunk, bytesPerFrame(format)) };
    }
  }
  return refused(format === undefined ? 'no fmt chunk' : 'no data chunk');
}

function readFormat(bytes: Uint8Array, { start, size }: RiffChunk): FormatClaims | WavRefusal {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (size < 16 || start + size > bytes.length) return refused('the fmt chunk is cut short');
  const outerTag = view.getUint16(start, true);
  if (outerTag === EXTENSIBLE && size < 40) return refused('the fmt chunk is cut short');
  return {
    tag: outerTag === EXTENSIBLE ? view.getUint16(start + 24, true) : outerTag,
    channels: view.getUint16(start + 2, true),
    sampleRateHz: view.getUint32(start + 4, true),
    bits: view.getUint16(start + 14, true),
    blockBytes: view.getUint16(start + 12, true),
  };
}

const fourLetters = (bytes: Uint8Array, at: number): string =>
  String.fromCharCode(...bytes.subarray(at, at + 4));
