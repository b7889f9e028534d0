/**
 * G.711 read off its tables, slowly: the decision values of each segment, and a code for the interval
 * in which a magnitude lies. Shares nothing with the codecs that it checks.
 */

type Law = {
  /** Lower bounds of the 128 intervals, in 16-bit units. */
  readonly decisions: readonly number[];
  /** What each interval is heard as. */
  readonly outputs: readonly number[];
};

/** mu-law: segment s has 16 steps of 2^(s+1), in units of 4; the first interval is half as wide. */
function mulawTables(): Law {
  const bounds = [0];
  for (let n = 1; n <= 128; n++) {
    const step = n === 1 ? 1 : 2 ** (Math.floor((n - 1) / 16) + 1);
    bounds.push((bounds[n - 1] as number) + step);
  }
  return {
    decisions: bounds.slice(0, 128).map((bound) => bound * 4),
    outputs: Array.from({ length: 128 }, (_, n) =>
      n === 0 ? 0 : 2 * ((bounds[n] as number) + (bounds[n + 1] as number)),
    ),
  };
}

/** A-law: the first two segments have steps of 2, each later one twice the last, in units of 8. */
function alawTables(): Law {
  const bounds = [0];
  for (let n = 1; n <= 128; n++) {
    const segment = Math.floor((n - 1) / 16);
    bounds.push((bounds[n - 1] as number) + 2 ** Math.max(1, segment));
  }
  return {
    decisions: bounds.slice(0, 128).map((bound) => bound * 8),
    outputs: Array.from(
      { length: 128 },
      (_, n) => 4 * ((bounds[n] as number) + (bounds[n + 1] as number)),
    ),
  };
}

const MULAW = mulawTables();
const ALAW = alawTables();

const intervalOf = (law: Law, magnitude: number): number => {
  let found = 0;
  law.decisions.forEach((bound, n) => {
    if (magnitude >= bound) found = n;
  });
  return found;
};

/** All bits of a mu-law code travel inverted. */
export function mulawCode(sample: number): number {
  const interval = intervalOf(MULAW, Math.abs(sample));
  return 0xff - interval - (sample < 0 ? 0x80 : 0);
}

export function mulawSample(code: number): number {
  const output = MULAW.outputs[0x7f - (code & 0x7f)] as number;
  return code < 0x80 ? 0 - output : output;
}

/** The even bits of an A-law code travel inverted; a negative sample belongs to the bound below it. */
export function alawCode(sample: number): number {
  const interval = intervalOf(ALAW, sample < 0 ? -sample - 1 : sample);
  return (interval + (sample < 0 ? 0 : 0x80)) ^ 0x55;
}

export function alawSample(code: number): number {
  const bits = code ^ 0x55;
  const output = ALAW.outputs[bits & 0x7f] as number;
  return bits < 0x80 ? -output : output;
}
