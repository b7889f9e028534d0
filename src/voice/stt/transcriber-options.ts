import type { SoundCoding } from '../../../media/coding.ts';
import type { SttListener, SttStream, VadEngine } from '../../engines/engine.ts';
import type { SpeechGates } from '../../engines/vad/fvad-gate.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Endpointing } from '../session/turn-detection.ts';
import type { TranscriberEvents } from './transcriber-events.ts';

export type TranscriberOptions = {
  readonly encoding: SoundCoding;
  readonly sampleRateHz: number;
  /** Null: the client ends utterances, and all audio is part of one. */
  readonly endpointing: Endpointing | null;
  readonly vad: VadEngine;
  /** The cheap gate before the model, where its package is installed. */
  readonly gates: SpeechGates | undefined;
  /** Called when a recogniser is needed and none is held. */
  readonly openStt: (listener: SttListener) => Promise<SttStream>;
  readonly clock: Clock;
  readonly events: TranscriberEvents;
};
