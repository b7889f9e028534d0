import type { Json } from '../../kernel/json.ts';
import type { StopSignal } from '../../kernel/stop-signal.ts';
import type { Outcome } from './outcome.ts';
import type { PaymentMethod } from './payment-method.ts';

export const SPEECH_FORMATS = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'] as const;
export type SpeechFormat = (typeof SPEECH_FORMATS)[number];

/** One text to be spoken by one upstream. */
export type SpeechCall = {
  /** Agent of the request. The engines of this process serve agents in turn. */
  readonly agentId?: number;
  /** The upstream's own name of the model. */
  readonly model: string;
  /** Payment of a call that is not billed to an account of this server. */
  readonly paymentMethod?: PaymentMethod | undefined;
  /** The caller's request as it came; a rail changes the model's name and how the sound is sent, and nothing else. */
  readonly body: Json;
  readonly input: string;
  /** Format of the sound, also when the caller named none. */
  readonly format: SpeechFormat;
  /** True when the upstream should report its usage, if it can. */
  readonly wantsUsage: boolean;
};

export type SpeechTokens = { readonly inputTokens: number; readonly outputTokens: number };

/** Sound that is still coming. For one reader. */
export interface SpeechSound {
  /** The next bytes of the file. Throws StreamBroken where the upstream ends before its end. */
  next(): Promise<Uint8Array | undefined>;
  /** Null: the upstream has not said, or not yet. */
  usage(): SpeechTokens | null;
  /** Stops buying. Harmless when it is over. */
  stop(): void;
}

export type Speech = {
  /** Content type of the bytes as they are. */
  readonly contentType: string;
  readonly sound: SpeechSound;
};

/** A way to speech at one upstream. Failures of the upstream are outcomes and not rejections; `signal` ends the request. */
export interface SpeechRail {
  makes(format: SpeechFormat): boolean;
  /** Completed is speech whose first bytes have come. */
  speak(call: SpeechCall, signal: StopSignal): Promise<Outcome<Speech>>;
}
