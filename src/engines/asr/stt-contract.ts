import { LIMITS } from '../../kernel/limits.ts';
import type { Transcript } from '../engine.ts';

/** What a recognising worker is asked. One worker serves one live stream at a time. */
export type SttContract = {
  /** Begins a stream; throws EngineInputRefused for a grammar that cannot be used. */
  readonly start: { readonly in: { readonly grammar?: string }; readonly out: null };
  /** 16-bit mono at HEARING_HZ. */
  readonly push: { readonly in: Int16Array; readonly out: readonly Transcript[] };
  /** Ends an utterance. The stream goes on. */
  readonly finish: { readonly in: null; readonly out: readonly Transcript[] };
};

/** Every post of a stream as far behind as is borne, and the calls that begin and end it. */
export const DECODER_CALLS_IN_FLIGHT =
  (LIMITS.engines.decoderBehindSeconds * 1_000) / LIMITS.engines.decoderPostMs + 16;
