import type { SoundCoding } from '../../../media/coding.ts';
import type { SttListener, SttStream, TurnBounds, VadEngine } from '../../engines/engine.ts';
import type { SpeechGates } from '../../engines/vad/fvad-gate.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Endpointing } from '../session/turn-detection.ts';
import type { TranscriberEvents } from './transcriber-events.ts';

export type TranscriberOptions = {
  readonly encoding: SoundCoding;
  readonly sampleRateHz: number;
  /** Settings for the end of utterances. With null the client ends utterances, and all audio is part of one. */
  readonly endpointing: Endpointing | null;
  /**
   * Returns the milliseconds of silence that end an utterance with these words. When it is absent, `endpointing` applies to all
   * words.
   */
  readonly silenceAfter?: ((words: string) => number) | undefined;
  /** Set when a recogniser that detects the ends of turns ends the utterances. When it is absent, silence ends them. */
  readonly turns?: TurnBounds | undefined;
  readonly vad: VadEngine;
  /** First stage of speech detection, before the model; undefined when its package is not installed. */
  readonly gates: SpeechGates | undefined;
  /** Opens a recogniser. Called when one is needed and none is open. */
  readonly openStt: (listener: SttListener) => Promise<SttStream>;
  readonly clock: Clock;
  readonly events: TranscriberEvents;
};
