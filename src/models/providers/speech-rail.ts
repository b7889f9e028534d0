import type { Json } from '../../kernel/json.ts';
import type { StopSignal } from '../../kernel/stop-signal.ts';
import type { Outcome } from './outcome.ts';
import type { PaymentMethod } from './payment-method.ts';

export const SPEECH_FORMATS = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'] as const;
export type SpeechFormat = (typeof SPEECH_FORMATS)[number];

/** Request to one upstream to speak one text. */
export type SpeechCall = {
  /** Agent of the request. The engines of this process serve agents in turn. */
  readonly agentId?: number;
  /** Name of the model at the upstream. */
  readonly model: string;
  /** Payment of a call that is not billed to an account of this server. */
  readonly paymentMethod?: PaymentMethod | undefined;
  /** The caller's request, unchanged. A rail replaces only the model's name and the way in which the audio is sent. */
  readonly body: Json;
  readonly input: string;
  /** Format of the audio; a default when the caller named none. */
  readonly format: SpeechFormat;
  /** True when the upstream should report its usage, if it can. */
  readonly wantsUsage: boolean;
};

export type SpeechTokens = { readonly inputTokens: number; readonly outputTokens: number };

/** Audio that is still arriving. It has one reader. */
export interface SpeechSound {
  /** Returns the next bytes of the file; undefined at its end. Throws StreamBroken when the upstream breaks off. */
  next(): Promise<Uint8Array | undefined>;
  /** Returns the usage that the upstream reports. Null when the upstream has reported none so far. */
  usage(): SpeechTokens | null;
  /** Stops reading and aborts the upstream request. Has no effect after the end. */
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
  /** Requests speech. The outcome is `completed` when the first bytes of the audio have arrived. */
  speak(call: SpeechCall, signal: StopSignal): Promise<Outcome<Speech>>;
}
