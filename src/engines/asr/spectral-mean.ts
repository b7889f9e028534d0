/** The part of the recogniser's memory that is read and written here, as its runtime has it at the moment. */
type Memory = { readonly HEAP32: Int32Array; readonly HEAPF32: Float32Array };

/** Cepstral coefficients of a frame. */
const LENGTH = 13;
/** The words of the C struct `cmn_t` of sphinxbase: three pointers, the frames summed, and the length of a vector. */
const MEANS = 0;
const VARIANCES = 1;
const SUMS = 2;
const FRAMES = 3;
const VECTOR_LENGTH = 4;
/** Weight of the first mean in frames (5 s), so that a pause before the first words does not outweigh the mean. */
const FIRST_FRAMES = 500;

/** The running mean of the spectrum by which the recogniser knows a line and its speaker. */
export interface SpectralMean {
  read(): readonly number[];
  /** Writes the mean. With undefined, writes the mean of a line that was not heard yet. */
  write(values: readonly number[] | undefined): void;
}

/**
 * Finds the spectral mean in the memory of a recogniser that has heard nothing, by the value `firstMean` from its options. The
 * recogniser has no function for this. Returns undefined unless exactly one match exists.
 */
export function findSpectralMean(memory: Memory, firstMean: number): SpectralMean | undefined {
  const { HEAP32: words, HEAPF32: floats } = memory;
  const vectorAt = (word: number) => (words[word] as number) / Int32Array.BYTES_PER_ELEMENT;
  const isVector = (word: number) => {
    const at = vectorAt(word);
    return Number.isInteger(at) && at > 0 && at + LENGTH <= floats.length;
  };
  const isZero = (at: number, count: number) =>
    floats.subarray(at, at + count).every((value) => value === 0);

  function isMean(at: number): boolean {
    if (words[at + VECTOR_LENGTH] !== LENGTH || words[at + FRAMES] !== 0) return false;
    if (!isVector(at + MEANS) || !isVector(at + VARIANCES) || !isVector(at + SUMS)) return false;
    const means = vectorAt(at + MEANS);
    const isFirst = floats[means] === firstMean && isZero(means + 1, LENGTH - 1);
    return isFirst && isZero(vectorAt(at + SUMS), LENGTH);
  }

  const found: number[] = [];
  for (let at = 0; at < words.length - VECTOR_LENGTH; at++) if (isMean(at)) found.push(at);
  const [mean] = found;
  if (mean === undefined || found.length > 1) return undefined;

  const part = (word: number) => {
    const at = (memory.HEAP32[mean + word] as number) / Int32Array.BYTES_PER_ELEMENT;
    return memory.HEAPF32.subarray(at, at + LENGTH);
  };
  const read = () => [memory.HEAP32[mean + FRAMES] as number, ...part(MEANS), ...part(SUMS)];
  const means = read().slice(1, 1 + LENGTH);
  const first = [FIRST_FRAMES, ...means, ...means.map((value) => FIRST_FRAMES * value)];
  return {
    read,
    write(values = first) {
      if (values.length !== first.length) return;
      memory.HEAP32[mean + FRAMES] = values[0] as number;
      part(MEANS).set(values.slice(1, 1 + LENGTH));
      part(SUMS).set(values.slice(1 + LENGTH));
    },
  };
}
