import { keepTable, kernel } from './kernel.ts';

/** Bytes that the kernel decodes at a time. */
const BLOCK = kernel.bytes.length;

/** View of the front of the kernel's output. It is kept because the frames of one stream have the same length. */
let front = kernel.output.subarray(0, 0);

/** Returns a decoder of one law of G.711. `linear` contains the sample of each code. */
export function decoderOf(linear: Int16Array) {
  const table = keepTable(linear);
  /** Decodes all of `source` into the front of `target` and returns how many samples it wrote. */
  return (source: Uint8Array, target: Int16Array): number => {
    if (target.length < source.length) throw new RangeError('G.711: target is too short');
    for (let at = 0; at < source.length; at += BLOCK) {
      const block = source.length <= BLOCK ? source : source.subarray(at, at + BLOCK);
      kernel.bytes.set(block);
      kernel.expand(block.length, table);
      if (front.length !== block.length) front = kernel.output.subarray(0, block.length);
      target.set(front, at);
    }
    return source.length;
  };
}
