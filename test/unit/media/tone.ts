/** Pure tones, and how much of a signal is the tone that it should be. */

export function tone(hz: number, sampleRateHz: number, samples: number): Int16Array {
  return Int16Array.from({ length: samples }, (_, i) =>
    Math.round(16_000 * Math.sin((2 * Math.PI * hz * i) / sampleRateHz)),
  );
}

const decibels = (powerRatio: number): number => 10 * Math.log10(powerRatio);

/** Fits a tone to the middle of `signal`: its level and shift beside the one put in, and the rest. */
export function compareToTone(signal: Int16Array, hz: number, sampleRateHz: number) {
  const edge = sampleRateHz / 50;
  let ss = 0;
  let sc = 0;
  let cc = 0;
  let xs = 0;
  let xc = 0;
  let xx = 0;
  for (let i = edge; i < signal.length - edge; i++) {
    const angle = (2 * Math.PI * hz * i) / sampleRateHz;
    const s = Math.sin(angle);
    const c = Math.cos(angle);
    const x = signal[i] as number;
    ss += s * s;
    sc += s * c;
    cc += c * c;
    xs += x * s;
    xc += x * c;
    xx += x * x;
  }
  const determinant = ss * cc - sc * sc;
  const a = (xs * cc - xc * sc) / determinant;
  const b = (xc * ss - xs * sc) / determinant;
  const tonePower = a * xs + b * xc;
  return {
    gainDb: decibels((a * a + b * b) / 16_000 ** 2),
    shiftUs: (Math.atan2(b, a) / (2 * Math.PI * hz)) * 1e6,
    snrDb: decibels(tonePower / Math.max(1e-9, xx - tonePower)),
  };
}

/** Level beside a tone as `tone` makes it. The edges do not count: a tone cut off is heard as a click. */
export function levelDb(signal: Int16Array): number {
  const middle = signal.subarray(signal.length / 4, (signal.length * 3) / 4);
  const power = middle.reduce((sum, x) => sum + x * x, 0) / middle.length;
  return decibels(Math.max(1e-12, power) / (16_000 ** 2 / 2));
}
