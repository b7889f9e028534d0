/**
 * RNNoise in WebAssembly: takes noise out of 20 ms of sound in line. It works on 10 ms at 48 kHz, so sound of a line is
 * resampled there and back. Its weights are inside the package.
 */
import { frameSamples } from '../../media/hearing.ts';
import { clampSample } from '../../media/pcm.ts';
import { Resampler } from '../../media/resample.ts';
import { EngineMissing } from './engine.ts';
import { isTrap } from './threads/web-assembly.ts';

const SUPPRESSOR_HZ = 48_000;
/** 10 ms. */
const BLOCK_SAMPLES = 480;
const FRAME_SAMPLES = 2 * BLOCK_SAMPLES;
/** Samples of a frame, and the samples that resampling there and back may add in one step. */
const MOST_SAMPLES = FRAME_SAMPLES + BLOCK_SAMPLES;

/** The noise suppressor of one line. `close` frees its memory. */
export interface NoiseSuppressor {
  /** Replaces the next 20 ms, or less, by the sound of 20 ms before without its noise. */
  suppress(sound: Int16Array): void;
  close(): void;
}

/** Suppressors share one instance of the module. */
export type NoiseSuppressors = { open(lineHz: number): NoiseSuppressor };

export type RnnoiseModule = {
  readonly HEAPF32: Float32Array;
  _malloc(bytes: number): number;
  _rnnoise_create(model: number): number;
  _rnnoise_destroy(handle: number): void;
  /** Returns the probability of speech. */
  _rnnoise_process_frame(handle: number, output: number, input: number): number;
};

type Package = { readonly default: () => Promise<RnnoiseModule> };

type Runtime = { readonly rnnoise: RnnoiseModule; readonly block: number; isBroken: boolean };

/**
 * Loads the module, at start and again after a trap. Rejects with EngineMissing when its package is not installed.
 * `instantiate` is for tests.
 */
export async function loadNoiseSuppressors(
  instantiate = instantiateRnnoise,
): Promise<NoiseSuppressors> {
  let runtime = await start(instantiate);
  let isStarting = false;

  async function restart(): Promise<void> {
    if (isStarting) return;
    isStarting = true;
    try {
      runtime = await start(instantiate);
    } catch {
      // Noise is not suppressed until the opening of another line restarts the module.
    } finally {
      isStarting = false;
    }
  }

  return {
    open(lineHz) {
      if (runtime.isBroken) void restart();
      return new Rnnoise(runtime, lineHz);
    },
  };
}

async function start(instantiate: () => Promise<RnnoiseModule>): Promise<Runtime> {
  const rnnoise = await instantiate();
  // One block serves all suppressors: no samples are kept in it between two calls.
  const block = rnnoise._malloc(BLOCK_SAMPLES * Float32Array.BYTES_PER_ELEMENT);
  if (block === 0) throw new Error('rnnoise: out of memory');
  return { rnnoise, block, isBroken: false };
}

async function instantiateRnnoise(): Promise<RnnoiseModule> {
  try {
    // @ts-expect-error: the package ships no types.
    const loaded: Package = await import('@echogarden/rnnoise-wasm');
    return await loaded.default();
  } catch (cause) {
    throw new EngineMissing('the package @echogarden/rnnoise-wasm is not installed', { cause });
  }
}

/** Samples that all lines use during one call. */
const wide = new Int16Array(MOST_SAMPLES);
const clean = new Int16Array(BLOCK_SAMPLES);
const narrow = new Int16Array(BLOCK_SAMPLES);

class Rnnoise implements NoiseSuppressor {
  readonly #runtime: Runtime;
  readonly #up: Resampler;
  readonly #down: Resampler;
  readonly #lineSamples: number;
  /** Sound at 48 kHz that fills no block yet. */
  readonly #begun = new Float32Array(BLOCK_SAMPLES);
  #begunSamples = 0;
  /** Sound of the line without noise that fills no frame yet. */
  readonly #ready: Int16Array;
  #readySamples: number;
  #handle = 0;

  constructor(runtime: Runtime, lineHz: number) {
    this.#runtime = runtime;
    this.#up = new Resampler(lineHz, SUPPRESSOR_HZ);
    this.#down = new Resampler(SUPPRESSOR_HZ, lineHz);
    this.#lineSamples = frameSamples(lineHz);
    this.#ready = new Int16Array(3 * this.#lineSamples);
    // One frame of silence, which covers the delay of resampling there and back: from then on each frame in fills one frame
    // out.
    this.#readySamples = this.#lineSamples;
    if (runtime.isBroken) return;
    try {
      this.#handle = runtime.rnnoise._rnnoise_create(0);
    } catch (error) {
      this.#broke(error);
    }
    if (this.#handle === 0) runtime.isBroken = true;
  }

  suppress(sound: Int16Array): void {
    if (sound.length > this.#lineSamples) {
      throw new RangeError(`rnnoise: a frame has ${this.#lineSamples} samples`);
    }
    if (this.#runtime.isBroken || this.#handle === 0) return;
    try {
      const count = this.#up.push(sound, wide);
      for (let at = 0; at < count; ) at += this.#take(at, count);
    } catch (error) {
      this.#broke(error);
      return;
    }
    sound.set(this.#ready.subarray(0, sound.length));
    this.#ready.copyWithin(0, sound.length, this.#readySamples);
    this.#readySamples -= sound.length;
  }

  close(): void {
    const { isBroken, rnnoise } = this.#runtime;
    if (this.#handle !== 0 && !isBroken) rnnoise._rnnoise_destroy(this.#handle);
    this.#handle = 0;
  }

  /** Fills the block in progress with samples of `wide` from `at` on. Returns how many it took. */
  #take(at: number, end: number): number {
    const count = Math.min(end - at, BLOCK_SAMPLES - this.#begunSamples);
    this.#begun.set(wide.subarray(at, at + count), this.#begunSamples);
    this.#begunSamples += count;
    if (this.#begunSamples === BLOCK_SAMPLES) this.#block();
    return count;
  }

  #block(): void {
    this.#begunSamples = 0;
    const { block, rnnoise } = this.#runtime;
    const at = block / Float32Array.BYTES_PER_ELEMENT;
    rnnoise.HEAPF32.set(this.#begun, at);
    rnnoise._rnnoise_process_frame(this.#handle, block, block);
    const floats = rnnoise.HEAPF32;
    for (let i = 0; i < BLOCK_SAMPLES; i++) clean[i] = clampSample(floats[at + i] as number);
    const count = this.#down.push(clean, narrow);
    this.#ready.set(narrow.subarray(0, count), this.#readySamples);
    this.#readySamples += count;
  }

  #broke(error: unknown): void {
    if (!isTrap(error)) throw error;
    this.#runtime.isBroken = true;
  }
}
