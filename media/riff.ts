/** The chunks of a RIFF WAVE file. Sizes are claims, and the number of chunks looked at is bounded. */

type RiffChunk = { readonly name: string; readonly start: number; readonly size: number };

const MAX_CHUNKS = 64;

export const isRiffWave = (bytes: Uint8Array): boolean =>
  bytes.length >= 12 && fourLetters(bytes, 0) === 'RIFF' && fourLetters(bytes, 8) === 'WAVE';

/** In their order. `size` may promise more than there is. */
export function* riffChunks(bytes: Uint8Array): Generator<RiffChunk> {
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

/** How much of a data chunk is there, in whole frames, and whether the header promised more. */
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

const fourLetters = (bytes: Uint8Array, at: number): string =>
  String.fromCharCode(...bytes.subarray(at, at + 4));
