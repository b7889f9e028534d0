/**
 * Sample rate conversion of 16-bit mono sound between any two whole rates from 8 to 48 kHz, by a
 * polyphase filter. What it loses and lets through is stated, and tested, in README.md.
 */
import { clampSample } from './pcm.ts';
import { type ResampleTable, resampleTable } from './resample-table.ts';

const RATE_HZ = { min: 8_000, max: 48_000 };
/** Input is worked off in blocks of this size, so that a stream holds little memory. */
const BLOCK_SAMPLES = 480;

/**
 * One stream. Output sample `k` is the sound at `k / toHz` seconds: nothing is shifted in time, but
 * it is known only `lookaheadSamples` of input later; `flush` gives the rest at the end. The output
 * is the same however the input was cut.
 */
export class Resampler {
  readonly fromHz: number;
  readonly toHz: number;
  /** How many input samples beyond its own instant an output sample needs. */
  readonly lookaheadSamples: number;
  readonly #table: ResampleTable;
  readonly #history: Float64Array;
  /** Input samples in the history, counted from its front. */
  #filled = 0;
  /** Where the next output's filter begins in the history, and its phase in 1/up of a sample. */
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
    this.#history = new Float64Array(same ? 0 : this.#table.taps + BLOCK_SAMPLES);
    this.reset();
  }

  reset(): void {
    this.#history.fill(0);
    this.#filled = Math.max(0, this.lookaheadSamples - 1);
    this.#index = 0;
    this.#phase = 0;
  }

  /** Exactly how many samples the next push of `inputSamples` will write. */
  outputSamples(inputSamples: number): number {
    if (this.lookaheadSamples === 0) return inputSamples;
    const { up, down, taps } = this.#table;
    const starts = this.#filled + inputSamples - taps + 1 - this.#index;
    return Math.max(0, Math.ceil((starts * up - this.#phase) / down));
  }

  /** Takes all of `input`, writes what is now known into the front of `target`, returns how much. */
  push(input: Int16Array, target: Int16Array): number {
    if (target.length < this.outputSamples(input.length)) {
      throw new RangeError('Resampler: target is too short');
    }
    if (this.lookaheadSamples === 0) {
      target.set(input);
      return input.length;
    }
    let written = 0;
    for (let at = 0; at < input.length; ) {
      const count = Math.min(input.length - at, this.#history.length - this.#filled);
      for (let i = 0; i < count; i++) {
        this.#history[this.#filled + i] = input[at + i] as number;
      }
      this.#filled += count;
      at += count;
      written = this.#drain(target, written);
    }
    return written;
  }

  /** Ends the stream: writes what was still held back, and makes ready for another. */
  flush(target: Int16Array): number {
    const written = this.push(new Int16Array(this.lookaheadSamples), target);
    this.reset();
    return written;
  }

  #drain(target: Int16Array, from: number): number {
    const { up, down, taps, copiesPhaseZero } = this.#table;
    const history = this.#history;
    const whole = Math.floor(down / up);
    const rest = down % up;
    const last = this.#filled - taps;
    const centre = this.lookaheadSamples - 1;
    let index = this.#index;
    let phase = this.#phase;
    let written = from;
    while (index <= last) {
      target[written++] =
        copiesPhaseZero && phase === 0
          ? (history[index + centre] as number)
          : clampSample(this.#filter(index, phase));
      index += whole;
      phase += rest;
      if (phase >= up) {
        phase -= up;
        index++;
      }
    }
    // Going far down, the next filter may begin beyond what is here: only what is here can be left.
    const used = Math.min(index, this.#filled);
    history.copyWithin(0, used, this.#filled);
    this.#filled -= used;
    this.#index = index - used;
    this.#phase = phase;
    return written;
  }

  #filter(index: number, phase: number): number {
    const { up, taps, rows, phases, exact } = this.#table;
    if (exact) return dot(this.#history, index, rows, phase * taps, taps);
    const place = (phase * phases) / up;
    const row = Math.floor(place);
    const below = dot(this.#history, index, rows, row * taps, taps);
    const above = dot(this.#history, index, rows, (row + 1) * taps, taps);
    return below + (above - below) * (place - row);
  }
}

/** Four sums side by side, so that one addition need not wait for the last. `count` is even. */
function dot(a: Float64Array, aAt: number, b: Float64Array, bAt: number, count: number): number {
  let s0 = 0;
  let s1 = 0;
  let s2 = 0;
  let s3 = 0;
  let k = 0;
  for (; k + 3 < count; k += 4) {
    s0 += (a[aAt + k] as number) * (b[bAt + k] as number);
    s1 += (a[aAt + k + 1] as number) * (b[bAt + k + 1] as number);
    s2 += (a[aAt + k + 2] as number) * (b[bAt + k + 2] as number);
    s3 += (a[aAt + k + 3] as number) * (b[bAt + k + 3] as number);
  }
  for (; k < count; k++) s0 += (a[aAt + k] as number) * (b[bAt + k] as number);
  return s0 + s1 + (s2 + s3);
}
