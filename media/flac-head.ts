/** Offset of STREAMINFO's fields, after `fLaC` and the block header. `COUNT_AT` is the offset of the number of samples. */
const STREAMINFO_AT = 8;
const COUNT_AT = STREAMINFO_AT + 13;

const HEAD_BYTES = STREAMINFO_AT + 34;

/** Returns the sample rate in a FLAC file's first block; 0 when that block is incomplete or of another type. */
export function readFlacRate(file: Buffer): number {
  if (file.length < HEAD_BYTES || ((file[4] as number) & 0x7f) !== 0) return 0;
  return file.readUIntBE(STREAMINFO_AT + 10, 3) >> 4;
}

/**
 * Writes the number of samples into the head of a FLAC file, which left the number open while the file was made. The number
 * has 36 bits; its first four share a byte with the bits per sample.
 */
export function writeFlacSamples(file: Uint8Array, samples: number): void {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const shared = view.getUint8(COUNT_AT) & 0xf0;
  view.setUint8(COUNT_AT, shared | (Math.floor(samples / 2 ** 32) & 0x0f));
  view.setUint32(COUNT_AT + 1, samples % 2 ** 32);
}
