/** Of `fLaC`, the head of the first block, and the fields of it that stand before the count of samples. */
const STREAMINFO_AT = 8;
const COUNT_AT = STREAMINFO_AT + 13;

/**
 * Writes how many samples a FLAC file has into its head, where it was left open because the file was being made. The
 * count has 36 bits, of which the first four share a byte with the width of a sample.
 */
export function writeFlacSamples(file: Uint8Array, samples: number): void {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const shared = view.getUint8(COUNT_AT) & 0xf0;
  view.setUint8(COUNT_AT, shared | (Math.floor(samples / 2 ** 32) & 0x0f));
  view.setUint32(COUNT_AT + 1, samples % 2 ** 32);
}
