import type { Transcript } from '../engine.ts';
import { ENGINE_LIMITS } from '../limits.ts';

/** State of one line and its speaker, learned by a decoder. The next decoder of the same stream begins with this state. */
export type HearingState = {
  /** Sums and means of the line's spectrum. Undefined when the decoder keeps none. */
  readonly adaptation: readonly number[] | undefined;
  /** Root mean square of the line's noise. */
  readonly noiseFloor: number;
  /** Samples of the utterance in progress. */
  readonly saidSamples: number;
};

/** Answer to a piece of sound. */
export type Decoded = {
  readonly transcripts: readonly Transcript[];
  /** Time in ms that the decoder worked on the sound. */
  readonly workMs: number;
  /** The decoder holds no sound without a final transcript: another stream may have it. */
  readonly isBetween: boolean;
};

/** Methods of a recogniser's worker. One worker serves one live stream at a time. */
export type SttContract = {
  /** Begins or continues a stream. Throws EngineInputRefused for a grammar that cannot be used. */
  readonly start: {
    readonly in: {
      readonly grammar?: string | undefined;
      readonly state?: HearingState | undefined;
    };
    readonly out: null;
  };
  /** Decodes 16-bit mono audio at `HEARING_HZ`. */
  readonly push: { readonly in: Int16Array; readonly out: Decoded };
  /** Ends an utterance. */
  readonly finish: { readonly in: null; readonly out: Decoded };
  /** Ends the stream's use of this decoder, and returns the state with which another decoder continues it. */
  readonly leave: { readonly in: null; readonly out: HearingState };
};

/** Every post of a stream that may wait, and the calls that begin and end it. */
export const DECODER_CALLS_IN_FLIGHT =
  (ENGINE_LIMITS.decoder.behindSeconds * 1_000) / ENGINE_LIMITS.decoder.postMs + 16;
