/**
 * Sample rate conversion of 16-bit mono sound between any two whole rates from 8 to 48 kHz, by a
 * polyphase filter. What it loses and lets through is stated, and tested, in README.md.
 */
import { clampSample } from './pcm.ts';
import { type ResampleTable, resampleTable } from './resample-table.ts';

const RATE_HZ = { min: 8_000, max: 48_000 };
/** Input is worked off in blocks of this size, so that a stream holds little memory. */
const BLOCK_SAMPLES = 480;
/** With more phases than this, too few outputs of a block share one. */
const MOST_TILED = 4;

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
    const { up, down } = this.#table;
    const count = this.outputSamples(0);
    if (up > MOST_TILED) this.#fillInTurn(target, from, count);
    else this.#fillByPhase(target, from, count);
    const place = this.#phase + count * down;
    const index = this.#index + Math.floor(place / up);
    // Going far down, the next filter may begin beyond what is here: only what is here can be left.
    const used = Math.min(index, this.#filled);
    this.#history.copyWithin(0, used, this.#filled);
    this.#filled -= used;
    this.#index = index - used;
    this.#phase = place % up;
    return from + count;
  }

  /** Outputs of one phase are computed together: every `up`-th, `down` input samples from one to the next. */
  #fillByPhase(target: Int16Array, from: number, count: number): void {
    const { up, down, taps, rows, copiesPhaseZero } = this.#table;
    const history = this.#history;
    for (let first = 0; first < Math.min(up, count); first++) {
      const place = this.#phase + first * down;
      const phase = place % up;
      const index = this.#index + Math.floor(place / up);
      const at = from + first;
      const times = Math.ceil((count - first) / up);
      if (copiesPhaseZero && phase === 0) {
        const centre = index + this.lookaheadSamples - 1;
        for (let n = 0; n < times; n++) target[at + n * up] = history[centre + n * down] as number;
      } else {
        const row = rows.subarray(phase * taps, (phase + 1) * taps);
        fillTiled({ history, index, step: down }, row, { target, at, step: up }, times);
      }
    }
  }

  #fillInTurn(target: Int16Array, from: number, count: number): void {
    const { up, down, copiesPhaseZero } = this.#table;
    const whole = Math.floor(down / up);
    const rest = down % up;
    const centre = this.lookaheadSamples - 1;
    let index = this.#index;
    let phase = this.#phase;
    for (let n = 0; n < count; n++) {
      target[from + n] =
        copiesPhaseZero && phase === 0
          ? (this.#history[index + centre] as number)
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
    const { up, taps, rows, phases, exact } = this.#table;
    if (exact) return dot(this.#history, index, rows, phase * taps, taps);
    const place = (phase * phases) / up;
    const row = Math.floor(place);
    const below = dot(this.#history, index, rows, row * taps, taps);
    const above = dot(this.#history, index, rows, (row + 1) * taps, taps);
    return below + (above - below) * (place - row);
  }
}

type Source = { readonly history: Float64Array; readonly index: number; readonly step: number };
type Target = { readonly target: Int16Array; readonly at: number; readonly step: number };

/**
 * Four outputs at a time, so that each coefficient is read once for them. Every sum adds in one order, in a tile or
 * after the last: how the sound was cut must not show.
 */
function fillTiled(
  { history, index, step }: Source,
  row: Float64Array,
  { target, at, step: stride }: Target,
  times: number,
): void {
  const taps = row.length;
  let n = 0;
  for (; n + 3 < times; n += 4) {
    const a = index + n * step;
    const b = a + step;
    const c = b + step;
    const d = c + step;
    let s0 = 0;
    let s1 = 0;
    let s2 = 0;
    let s3 = 0;
    for (let k = 0; k < taps; k++) {
      const weight = row[k] as number;
      s0 += (history[a + k] as number) * weight;
      s1 += (history[b + k] as number) * weight;
      s2 += (history[c + k] as number) * weight;
      s3 += (history[d + k] as number) * weight;
    }
    const to = at + n * stride;
    target[to] = clampSample(s0);
    target[to + stride] = clampSample(s1);
    target[to + 2 * stride] = clampSample(s2);
    target[to + 3 * stride] = clampSample(s3);
  }
  for (; n < times; n++) {
    const a = index + n * step;
    let sum = 0;
    for (let k = 0; k < taps; k++) sum += (history[a + k] as number) * (row[k] as number);
    target[at + n * stride] = clampSample(sum);
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
