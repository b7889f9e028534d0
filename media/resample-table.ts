/**
 * Coefficient tables for the resampler: a Kaiser-windowed sinc whose edge is at the lower of the two Nyquist frequencies. All
 * streams with the same pair of rates share a table.
 */

/** Zero crossings of the sinc on each side: 24 taps per phase when the rate rises, more in proportion when it falls. */
const HALF_WIDTH = 12;
const KAISER_BETA = 6.5;
/** Number of phases beyond which a phase is interpolated between its neighbours. The error lies below -100 dB. */
const MAX_EXACT_PHASES = 640;
const INTERPOLATED_PHASES = 256;
const MAX_TABLES = 16;
/**
 * Number of phases up to which the kernel computes outputs in Float32. With more phases, too few outputs of a block share a
 * phase to be computed together.
 */
export const MOST_TOGETHER = 4;

export type ResampleTable = {
  /** Number of output samples for `down` input samples. */
  readonly up: number;
  readonly down: number;
  readonly taps: number;
  /**
   * `taps` coefficients for each phase, then the first phase's coefficients again, one input sample later. Float32, as the
   * kernel needs, up to `MOST_TOGETHER` phases.
   */
  readonly filters: readonly (Float32Array | Float64Array)[];
  readonly phases: number;
  /** True when each phase has its own row of coefficients; false when rows are interpolated. */
  readonly exact: boolean;
  /** True when an output at phase 0 is a copy of the input sample there, because the sinc is 0 at all other samples. */
  readonly copiesPhaseZero: boolean;
};

const tables = new Map<string, ResampleTable>();

/**
 * Returns the table for a pair of integer rates. Only the sixteen tables used last are kept, whatever rates clients request.
 */
export function resampleTable(fromHz: number, toHz: number): ResampleTable {
  const divisor = greatestCommonDivisor(fromHz, toHz);
  const up = toHz / divisor;
  const down = fromHz / divisor;
  const key = `${up}/${down}`;
  const table = tables.get(key) ?? buildTable(up, down);
  tables.delete(key);
  tables.set(key, table);
  for (const oldest of tables.keys()) {
    if (tables.size <= MAX_TABLES) break;
    tables.delete(oldest);
  }
  return table;
}

function buildTable(up: number, down: number): ResampleTable {
  const exact = up <= MAX_EXACT_PHASES;
  const phases = exact ? up : INTERPOLATED_PHASES;
  const stretch = Math.max(1, down / up);
  const half = Math.ceil(HALF_WIDTH * stretch);
  const taps = 2 * half;
  const filters = Array.from({ length: phases + 1 }, (_, phase) => {
    const row = new Float64Array(taps);
    for (let k = 0; k < taps; k++) {
      row[k] = windowedSinc((k - (half - 1) - phase / phases) / stretch);
    }
    // The coefficients of each phase add up to 1, so that a constant input stays constant in every phase.
    const sum = row.reduce((total, value) => total + value, 0);
    for (let k = 0; k < taps; k++) row[k] = (row[k] as number) / sum;
    return up <= MOST_TOGETHER ? Float32Array.from(row) : row;
  });
  return { up, down, taps, filters, phases, exact, copiesPhaseZero: stretch === 1 };
}

function windowedSinc(x: number): number {
  const edge = x / HALF_WIDTH;
  if (Math.abs(edge) >= 1) return 0;
  if (x === 0) return 1;
  const sinc = Math.sin(Math.PI * x) / (Math.PI * x);
  return (sinc * besselI0(KAISER_BETA * Math.sqrt(1 - edge * edge))) / besselI0(KAISER_BETA);
}

function besselI0(x: number): number {
  let term = 1;
  let sum = 1;
  for (let k = 1; term > sum * 1e-12; k++) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
