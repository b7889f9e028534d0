/**
 * Coefficient tables for the resampler: a Kaiser-windowed sinc whose edge is at the lower of the two Nyquist frequencies. All
 * streams with the same pair of rates share a table.
 */

/** Zero crossings on each side: 24 taps a phase going up, more in proportion going down. */
const HALF_WIDTH = 12;
const KAISER_BETA = 6.5;
/** Beyond this many phases neighbouring ones are interpolated; the error lies below -100 dB. */
const MAX_EXACT_PHASES = 640;
const INTERPOLATED_PHASES = 256;
const MAX_TABLES = 16;
/** With more phases than this, too few outputs of a block share one to be computed together, in Float32. */
export const MOST_TOGETHER = 4;

export type ResampleTable = {
  /** Output samples per `down` input samples. */
  readonly up: number;
  readonly down: number;
  readonly taps: number;
  /**
   * `taps` coefficients for each phase, then the first phase's coefficients again, one input sample later. Float32, as the
   * kernel needs, up to `MOST_TOGETHER` phases.
   */
  readonly filters: readonly (Float32Array | Float64Array)[];
  readonly phases: number;
  /** True when every phase that occurs has its own row. */
  readonly exact: boolean;
  /** Phase 0 falls on an input sample and is that sample, because the sinc is 0 at all others. */
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
    // Each phase passes a constant unchanged, so that no phase pattern can be heard on it.
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
