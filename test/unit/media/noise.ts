/** Noise that is the same in every run: full-band, at the given loudness (root mean square). */
export function noise(samples: number, loudness: number, seed = 1): Int16Array {
  let state = seed >>> 0;
  return Int16Array.from({ length: samples }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.round((state / 2 ** 32 - 0.5) * Math.sqrt(12) * loudness);
  });
}
