/** Sample rate in which Opus counts, whatever the input's rate was. */
export const OPUS_HZ = 48_000;
/** Samples in the longest Opus packet, 120 ms. */
export const MAX_OPUS_PACKET = 5_760;

const SAMPLES_PER_MS = OPUS_HZ / 1_000;

/** Returns the samples of one packet, by its first two bytes. */
export function opusSamples(first: number, second: number | undefined): number {
  const config = first >> 3;
  const frameMs =
    config < 12
      ? ([10, 20, 40, 60][config & 3] as number)
      : config < 16
        ? ([10, 20][config & 1] as number)
        : ([2.5, 5, 10, 20][config & 3] as number);
  const code = first & 3;
  const frames = code === 0 ? 1 : code === 3 ? (second ?? 0) & 0x3f : 2;
  return Math.min(MAX_OPUS_PACKET, frames * frameMs * SAMPLES_PER_MS);
}
