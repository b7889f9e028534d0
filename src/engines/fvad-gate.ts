/**
 * The cheap first stage of voice activity detection: WebRTC's detector in WebAssembly, 2 µs for 20 ms
 * of 16 kHz sound, so it runs in line. Good on clean lines, useless in rumble: the second stage's task.
 */
import { HEARING_FRAME, HEARING_HZ } from '../../media/hearing.ts';
import { EngineMissing } from './engine.ts';

/** 0 lets most through, 3 least. */
const MOST_STRICT = 3;
const SPEECH = 1;

/** One listener's gate. `close` gives its few hundred bytes back. */
export interface SpeechGate {
  isSpeech(frame: Int16Array): boolean;
  close(): void;
}

/** Gates share one instance of the module. */
export type SpeechGates = { open(): SpeechGate };

type FvadModule = {
  readonly HEAP16: Int16Array;
  _malloc(bytes: number): number;
  _fvad_new(): number;
  _fvad_free(handle: number): void;
  _fvad_set_mode(handle: number, mode: number): number;
  _fvad_set_sample_rate(handle: number, rateHz: number): number;
  _fvad_process(handle: number, samples: number, count: number): number;
};

/** Loads the module once, at start. Rejects with EngineMissing when its package is not installed. */
export async function loadSpeechGates(): Promise<SpeechGates> {
  const fvad = await instantiate();
  // One input buffer serves all: nothing is kept in it between two calls.
  const input = fvad._malloc(HEARING_FRAME * 2);
  if (input === 0) throw new Error('fvad: out of memory');
  return { open: () => new FvadGate(fvad, input) };
}

async function instantiate(): Promise<FvadModule> {
  try {
    // @ts-expect-error: the package ships no types.
    const loaded: { default: () => Promise<FvadModule> } = await import('@echogarden/fvad-wasm');
    return await loaded.default();
  } catch (cause) {
    throw new EngineMissing('the package @echogarden/fvad-wasm is not installed', { cause });
  }
}

class FvadGate implements SpeechGate {
  readonly #fvad: FvadModule;
  readonly #handle: number;
  readonly #input: number;
  #isOpen = true;

  constructor(fvad: FvadModule, input: number) {
    this.#fvad = fvad;
    this.#input = input;
    this.#handle = fvad._fvad_new();
    if (this.#handle === 0) throw new Error('fvad: out of memory');
    fvad._fvad_set_mode(this.#handle, MOST_STRICT);
    fvad._fvad_set_sample_rate(this.#handle, HEARING_HZ);
  }

  isSpeech(frame: Int16Array): boolean {
    if (frame.length !== HEARING_FRAME) throw new RangeError('fvad: a frame has 320 samples');
    // A closed handle may belong to another listener by now.
    if (!this.#isOpen) return false;
    this.#fvad.HEAP16.set(frame, this.#input >> 1);
    return this.#fvad._fvad_process(this.#handle, this.#input, HEARING_FRAME) === SPEECH;
  }

  close(): void {
    if (this.#isOpen) this.#fvad._fvad_free(this.#handle);
    this.#isOpen = false;
  }
}
