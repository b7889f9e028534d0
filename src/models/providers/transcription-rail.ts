import type { TimedWord } from '../../engines/engine.ts';
import type { StopSignal } from '../../kernel/stop-signal.ts';
import type { Outcome } from './outcome.ts';
import type { PaymentMethod } from './payment-method.ts';

export const TRANSCRIPT_FORMATS = [
  ...(['json', 'text', 'srt', 'vtt', 'verbose_json'] as const),
  'diarized_json',
] as const;
export type TranscriptFormat = (typeof TRANSCRIPT_FORMATS)[number];

/** Transcript formats that do not name the speaker. */
export type PlainFormat = Exclude<TranscriptFormat, 'diarized_json'>;

/** Format of a transcript: one of the OpenAI dialect, or a whole answer of Deepgram's protocol. */
export type CallFormat = TranscriptFormat | 'listen';

export type TranscriptSegment = {
  readonly startMs: number;
  readonly endMs: number;
  readonly text: string;
  readonly words?: readonly TimedWord[] | undefined;
};

export type WholeTranscript = {
  readonly segments: readonly TranscriptSegment[];
  /** Text of the transcript, if it differs from the joined texts of the segments. */
  readonly text?: string | undefined;
  readonly durationMs: number;
  readonly language: string;
};

export type Rendered = { readonly body: Buffer; readonly contentType: string };

/** The part of a call that its rendered answer names. */
export type TranscribedCall = Pick<TranscriptionCall, 'file' | 'model'>;

/** Answer of a request in Deepgram's protocol, which the code of the protocol writes. */
export type ListenAnswer = {
  /** Query parameters as the client wrote them, for an upstream that speaks Deepgram's protocol. */
  readonly options: readonly (readonly [name: string, value: string])[];
  /** Writes the answer for a transcript. */
  readonly write: (whole: WholeTranscript, call: TranscribedCall) => Promise<Rendered>;
  /** Writes the answer around the results of an upstream that speaks Deepgram's protocol. */
  readonly relay: (results: unknown, call: TranscribedCall) => Promise<Rendered>;
};

/** Request to one upstream to transcribe one audio file. */
export type TranscriptionCall = {
  /** Agent of the request. The engines of this process serve agents in turn. */
  readonly agentId?: number;
  /** Name of the model at the upstream. */
  readonly model: string;
  /** Payment of a call that is not billed to an account of this server. */
  readonly paymentMethod?: PaymentMethod | undefined;
  readonly file: {
    readonly name: string;
    readonly contentType: string | undefined;
    readonly bytes: Buffer;
    /** Duration of the audio in milliseconds, measured from the file's bytes. */
    readonly durationMs: number;
  };
  readonly format: CallFormat;
  /** Answer of a `listen` request. Undefined for other formats. */
  readonly listen?: ListenAnswer | undefined;
  /** Kinds of times that the caller requested. Undefined: the caller named none. */
  readonly granularities?: readonly ('word' | 'segment')[] | undefined;
  readonly language: string | undefined;
  readonly prompt: string | undefined;
  /** The caller's form fields, unchanged, without the model and the file. */
  readonly fields: readonly (readonly [name: string, value: string])[];
};

/** Usage that an upstream reports. Null: not reported. */
export type TranscriptionUsage = {
  readonly seconds: number | null;
  readonly tokens: {
    readonly inputAudio: number;
    readonly inputText: number;
    readonly output: number;
  } | null;
};

export const NOTHING_TOLD: TranscriptionUsage = { seconds: null, tokens: null };

/** Answer of an upstream, with its body unchanged. */
export type TranscriptionAnswer = {
  readonly body: Uint8Array;
  readonly contentType: string;
  readonly usage: TranscriptionUsage;
};

/** Transcript that is still arriving, as events of the OpenAI dialect. */
export interface TranscriptStream {
  /**
   * Returns the next whole events, without the terminator; undefined at the end. Throws StreamBroken when the upstream ends the
   * stream early. For one reader.
   */
  next(): Promise<Uint8Array | undefined>;
  /** Usage of the stream up to now. */
  metered(): TranscriptionUsage;
  /** Stops reading and aborts the upstream request. */
  stop(): void;
}

/**
 * A way to transcripts at one upstream. Failures of the upstream are outcomes and not rejections; `signal` ends the request.
 */
export interface TranscriptionRail {
  /** True when the upstream takes the parameters of Deepgram's protocol. */
  readonly speaksListen?: boolean;
  transcribe(call: TranscriptionCall, signal: StopSignal): Promise<Outcome<TranscriptionAnswer>>;
  stream(
    call: TranscriptionCall,
    signal: StopSignal,
  ): Promise<Outcome<{ readonly stream: TranscriptStream }>>;
}
