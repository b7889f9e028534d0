/**
 * The cheap first stage of voice activity detection: WebRTC's detector in WebAssembly, 1 to 2 µs for 20 ms, so it runs in line.
 * It evaluates audio at 8 kHz: telephone audio unchanged, other audio halved. It is good on clean lines and useless in rumble,
 * which is left to the second stage.
 */
import { frameSamples, HEARING_FRAME, HEARING_HZ, type LineHz } from '../../../media/hearing.ts';
import { EngineMissing } from '../engine.ts';
import { isTrap } from '../threads/web-assembly.ts';

/** Mode of the detector, 0 to 3; mode 3 takes the least sound for speech. */
const MOST_STRICT = 3;
const SPEECH = 1;

/** The speech gate of one listener, which takes 20 ms at a time. `close` frees its few hundred bytes. */
export interface SpeechGate {
  isSpeech(frame: Int16Array): boolean;
  close(): void;
}

/** Opens speech gates, which share one instance of the module. */
export type SpeechGates = { open(lineHz?: LineHz): SpeechGate };

export type FvadModule = {
  readonly HEAP16: Int16Array;
  _malloc(bytes: number): number;
  _fvad_new(): number;
  _fvad_free(handle: number): void;
  _fvad_set_mode(handle: number, mode: number): number;
  _fvad_set_sample_rate(handle: number, rateHz: number): number;
  _fvad_process(handle: number, samples: number, count: number): number;
};

/** A module with its memory. A module that broke is in an unknown state and is not called again. */
type Runtime = { readonly fvad: FvadModule; readonly input: number; isBroken: boolean };

/**
 * Loads the module, at start and again after a trap. Rejects with EngineMissing when its package is not installed.
 * `instantiate` is for tests.
 */
export async function loadSpeechGates(instantiate = instantiateFvad): Promise<SpeechGates> {
  let runtime = await start(instantiate);
  let isStarting = false;

  async function restart(): Promise<void> {
    if (isStarting) return;
    isStarting = true;
    try {
      runtime = await start(instantiate);
    } catch {
      // Loudness is the gate until another listener opens a gate.
    } finally {
      isStarting = false;
    }
  }

  return {
    open(lineHz = HEARING_HZ) {
      if (runtime.isBroken) void restart();
      return new FvadGate(runtime, lineHz);
    },
  };
}

async function start(instantiate: () => Promise<FvadModule>): Promise<Runtime> {
  const fvad = await instantiate();
  // One input buffer serves all gates: no samples are kept in it between two calls.
  const input = fvad._malloc(HEARING_FRAME * 2);
  if (input === 0) throw new Error('fvad: out of memory');
  return { fvad, input, isBroken: false };
}

async function instantiateFvad(): Promise<FvadModule> {
  try {
    // @ts-expect-error: the package ships no types.
    const loaded: { default: () => Promise<FvadModule> } = await import('@echogarden/fvad-wasm');
    return await loaded.default();
  } catch (cause) {
    throw new EngineMissing('the package @echogarden/fvad-wasm is not installed', { cause });
  }
}

class FvadGate implements SpeechGate {
  readonly #runtime: Runtime;
  readonly #samples: number;
  #handle = 0;
  #isOpen = true;

  constructor(runtime: Runtime, lineHz: LineHz) {
    this.#runtime = runtime;
    this.#samples = frameSamples(lineHz);
    this.#call(({ fvad }) => {
      this.#handle = fvad._fvad_new();
      if (this.#handle === 0) throw new Error('fvad: out of memory');
      fvad._fvad_set_mode(this.#handle, MOST_STRICT);
      fvad._fvad_set_sample_rate(this.#handle, lineHz);
    });
  }

  isSpeech(frame: Int16Array): boolean {
    if (frame.length !== this.#samples) {
      throw new RangeError(`fvad: a frame has ${this.#samples} samples`);
    }
    // The handle may belong to another listener after this gate was closed.
    if (!this.#isOpen) return false;
    const { fvad, input, isBroken } = this.#runtime;
    // A broken module lets every frame pass, so loudness alone decides.
    if (isBroken) return true;
    // As `#call` does, without a closure for each frame.
    try {
      fvad.HEAP16.set(frame, input >> 1);
      return fvad._fvad_process(this.#handle, input, frame.length) === SPEECH;
    } catch (error) {
      this.#broke(error);
      return true;
    }
  }

  close(): void {
    if (this.#isOpen) this.#call(({ fvad }) => fvad._fvad_free(this.#handle));
    this.#isOpen = false;
  }

  /** Runs `work`, or does nothing when the module is broken. A trap marks the module as broken. */
  #call(work: (runtime: Runtime) => void): void {
    if (this.#runtime.isBroken) return;
    try {
      work(this.#runtime);
    } catch (error) {
      this.#broke(error);
    }
  }

  #broke(error: unknown): void {
    if (!isTrap(error)) throw error;
    this.#runtime.isBroken = true;
  }
}
