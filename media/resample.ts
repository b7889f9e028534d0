/**
 * Converts the sample rate of 16-bit mono sound between any two whole rates from 8 to 48 kHz with a polyphase filter.
 * media/README.md states its losses and leaks, which tests check.
 */
import { kernel, MOST_SAMPLES, MOST_WEIGHTS } from './kernel.ts';
import { clampSample } from './pcm.ts';
import { MOST_TOGETHER, type ResampleTable, resampleTable } from './resample-table.ts';

const RATE_HZ = { min: 8_000, max: 48_000 };
/**
 * Samples of input that are filtered at a time. Together with the past samples, at most a filter's length, they fit the
 * kernel.
 */
const BLOCK_SAMPLES = MOST_SAMPLES - MOST_WEIGHTS;
const SAMPLE_BYTES = 2;
/** A block and its past, for outputs that V8 computes one by one instead of the kernel. */
const wide = new Float64Array(MOST_SAMPLES);
/** Filter of an output sample that is a copy of an input sample. */
const ITSELF = Float32Array.of(1);

/**
 * Resamples one stream. Output sample `k` is the audio at `k / toHz` seconds: nothing is shifted in time, but a sample is known
 * only `lookaheadSamples` of input later, and `flush` returns the remaining samples. The output does not depend on how the
 * input was cut.
 */
export class Resampler {
  readonly fromHz: number;
  readonly toHz: number;
  /** Number of input samples beyond its own instant that an output sample needs. */
  readonly lookaheadSamples: number;
  readonly #table: ResampleTable;
  /** Last input samples, which later outputs still need: fewer than the filter's length. */
  readonly #past: Int16Array;
  #pastSamples = 0;
  /** Start of the next output's filter, counted from the first past sample, and its phase in 1/`up` of a sample. */
  #index = 0;
  #phase = 0;

  constructor(fromHz: number, toHz: number) {
    for (const rate of [fromHz, toHz]) {
      if (!Number.isInteger(rate) || rate < RATE_HZ.min || rate > RATE_HZ.max) {
        throw new RangeError(`Resampler: ${rate} Hz is not a whole rate from 8000 to 48000`);
      }
    }
    this.fromHz = fromHz;
    this.toHz = toHz;
    this.#table = resampleTable(fromHz, toHz);
    const same = fromHz === toHz;
    this.lookaheadSamples = same ? 0 : this.#table.taps / 2;
    this.#past = new Int16Array(same ? 0 : this.#table.taps);
    this.reset();
  }

  reset(): void {
    this.#past.fill(0);
    this.#pastSamples = Math.max(0, this.lookaheadSamples - 1);
    this.#index = 0;
    this.#phase = 0;
  }

  /** Returns the exact number of samples that the next push of `inputSamples` samples writes. */
  outputSamples(inputSamples: number): number {
    return this.lookaheadSamples === 0
      ? inputSamples
      : this.#known(this.#pastSamples + inputSamples);
  }

  /**
   * Takes the first `count` samples of `input`, writes the known output into the front of `target` and returns its length.
   * Throws RangeError when `target` is too short.
   */
  push(input: Int16Array, target: Int16Array, count = input.length): number {
    if (target.length < this.outputSamples(count)) {
      throw new RangeError('Resampler: target is too short');
    }
    if (this.lookaheadSamples === 0) {
      target.set(count === input.length ? input : input.subarray(0, count));
      return count;
    }
    let written = 0;
    for (let at = 0; at < count; at += BLOCK_SAMPLES) {
      const end = Math.min(count, at + BLOCK_SAMPLES);
      written += this.#block(input, at, end, target, written);
    }
    return written;
  }

  /**
   * Ends the stream: writes the samples that were held back and returns their number. The resampler is ready for another stream
   * afterwards.
   */
  flush(target: Int16Array): number {
    const written = this.push(new Int16Array(this.lookaheadSamples), target);
    this.reset();
    return written;
  }

  /** Returns the number of outputs that `filled` input samples, past ones included, are enough for. */
  #known(filled: number): number {
    const { up, down, taps } = this.#table;
    const starts = filled - taps + 1 - this.#index;
    return Math.max(0, Math.ceil((starts * up - this.#phase) / down));
  }

  #block(input: Int16Array, start: number, end: number, target: Int16Array, to: number): number {
    const { up, down } = this.#table;
    const past = this.#past;
    const kept = this.#pastSamples;
    const sound = kernel.input;
    sound.set(past);
    sound.set(end - start === input.length ? input : input.subarray(start, end), kept);
    const filled = kept + end - start;

    const count = this.#known(filled);
    const isTogether = up <= MOST_TOGETHER;
    if (isTogether) {
      kernel.spread(filled, down);
      this.#fillByPhase(target, to, count);
    } else {
      for (let i = 0; i < filled; i++) wide[i] = sound[i] as number;
      this.#fillInTurn(target, to, count);
    }
    const place = this.#phase + count * down;
    const index = this.#index + Math.floor(place / up);
    // When the rate falls by much, the next filter may begin beyond the present input: only the present input can be dropped.
    const used = Math.min(index, filled);
    for (let i = used; i < filled; i++) past[i - used] = sound[i] as number;
    this.#pastSamples = filled - used;
    this.#index = index - used;
    this.#phase = place % up;
    return count;
  }

  /** Computes the outputs of one phase together: every `up`-th output, `down` input samples apart. */
  #fillByPhase(target: Int16Array, to: number, count: number): void {
    const { up, down, copiesPhaseZero, filters, taps } = this.#table;
    // The kernel writes beyond a phase's last output, but only after the last output of all phases.
    for (let first = 0; first < up && first < count; first++) {
      const place = this.#phase + first * down;
      const phase = place % up;
      const isCopy = copiesPhaseZero && phase === 0;
      const index = this.#index + Math.floor(place / up) + (isCopy ? this.lookaheadSamples - 1 : 0);
      kernel.weights.set(isCopy ? ITSELF : (filters[phase] as Float32Array));
      const out = kernel.outputByte + first * SAMPLE_BYTES;
      const times = Math.ceil((count - first) / up);
      kernel.filter(index, down, isCopy ? 1 : taps, out, up * SAMPLE_BYTES, times);
    }
    target.set(kernel.output.subarray(0, count), to);
  }

  #fillInTurn(target: Int16Array, to: number, count: number): void {
    const { up, down, copiesPhaseZero } = this.#table;
    const whole = Math.floor(down / up);
    const rest = down % up;
    const centre = this.lookaheadSamples - 1;
    let index = this.#index;
    let phase = this.#phase;
    for (let n = 0; n < count; n++) {
      target[to + n] =
        copiesPhaseZero && phase === 0
          ? (wide[index + centre] as number)
          : clampSample(this.#filter(index, phase));
      index += whole;
      phase += rest;
      if (phase >= up) {
        phase -= up;
        index++;
      }
    }
  }

  #filter(index: number, phase: number): number {
    const { up, filters, phases, exact } = this.#table;
    if (exact) return dot(filters[phase] as Float64Array, index);
    const place = (phase * phases) / up;
    const row = Math.floor(place);
    const below = dot(filters[row] as Float64Array, index);
    const above = dot(filters[row + 1] as Float64Array, index);
    return below + (above - below) * (place - row);
  }
}

/** Computes the dot product as four sums side by side, so that no addition waits for the one before. The count is even. */
function dot(row: Float64Array, index: number): number {
  const taps = row.length;
  let s0 = 0;
  let s1 = 0;
  let s2 = 0;
  let s3 = 0;
  let k = 0;
  for (; k + 3 < taps; k += 4) {
    s0 += (wide[index + k] as number) * (row[k] as number);
    s1 += (wide[index + k + 1] as number) * (row[k + 1] as number);
    s2 += (wide[index + k + 2] as number) * (row[k + 2] as number);
    s3 += (wide[index + k + 3] as number) * (row[k + 3] as number);
  }
  for (; k < taps; k++) s0 += (wide[index + k] as number) * (row[k] as number);
  return s0 + s1 + (s2 + s3);
}
