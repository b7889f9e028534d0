import { HEARING_HZ } from '../../../media/hearing.ts';
import type { Decoder } from './decoder.ts';

/** A decoder that replaces itself when it traps, so that the caller never sees a trap. */
export interface SteadyDecoder {
  /** Loads a decoder if none is loaded. */
  ready(): Promise<void>;
  /** Decodes more audio of the utterance. */
  hear(pcm: Int16Array): Promise<void>;
  /** Returns the result of `question` for the utterance up to now, or `otherwise` when the utterance had to be given up. */
  ask<T>(question: (decoder: Decoder) => T, otherwise: T): Promise<T>;
  /** Drops the audio of the utterance and keeps the decoder. */
  forget(): void;
  /** Drops a decoder that has heard more than `seconds` of audio. The next call makes a new decoder. */
  renewAfter(seconds: number): void;
  /** State of the line and its speaker that each decoder of the stream begins with. */
  adapt(adaptation: readonly number[] | undefined): void;
  readonly adaptation: readonly number[] | undefined;
  /** Number of samples of the utterance that the decoder has received. */
  readonly heardSamples: number;
}

/**
 * Keeps the audio of the utterance, which the caller bounds, to replay it to the successor of a decoder that trapped. When the
 * successor traps too, the utterance up to now is given up.
 */
export function createSteadyDecoder(makeDecoder: () => Promise<Decoder>): SteadyDecoder {
  let decoder: Decoder | undefined;
  let heard: Int16Array[] = [];
  let heardSamples = 0;
  let lifeSamples = 0;
  let learned: readonly number[] | undefined;

  function forget() {
    heard = [];
    heardSamples = 0;
  }

  async function ready(): Promise<Decoder> {
    if (decoder !== undefined) return decoder;
    lifeSamples = 0;
    decoder = await makeDecoder();
    decoder.adapt?.(learned);
    return decoder;
  }

  async function attempt<T>(step: (decoder: Decoder) => T, gaveUp: T): Promise<T> {
    try {
      return step(await ready());
    } catch {
      decoder = undefined;
    }
    const successor = await ready();
    try {
      if (heardSamples > 0) successor.begin();
      for (const pcm of heard) successor.feed(pcm);
      return step(successor);
    } catch {
      decoder = undefined;
      forget();
      return gaveUp;
    }
  }

  return {
    async ready() {
      await ready();
    },
    async hear(pcm) {
      const fed = await attempt((current) => {
        if (heardSamples === 0) current.begin();
        current.feed(pcm);
        return true;
      }, false);
      if (!fed) return;
      heard.push(pcm);
      heardSamples += pcm.length;
      lifeSamples += pcm.length;
    },
    ask: attempt,
    forget,
    renewAfter(seconds) {
      if (lifeSamples > seconds * HEARING_HZ) decoder = undefined;
    },
    adapt(adaptation) {
      learned = adaptation;
      decoder?.adapt?.(adaptation);
    },
    get adaptation() {
      return decoder?.adaptation ?? learned;
    },
    get heardSamples() {
      return heardSamples;
    },
  };
}
