import type { Ending } from '../../../machines/transcription-stream.ts';
import type { RelayClient } from '../live/downlink.ts';
import type { TranscriptWriter } from './dialect.ts';

/** Callbacks to which the transcriber of a stream reports. */
export type StreamTranscriberEvents = {
  readonly writer: TranscriptWriter;
  /** Called when the stream was heard up to `seconds`. Infinity means all audio passed on up to now. */
  readonly heardUpTo: (seconds: number) => void;
  /** Called when the transcriber makes progress and has no words yet. */
  readonly progressed: () => void;
  /** Called when an utterance is transcribed, `latencyMs` after its end. */
  readonly transcribed: (latencyMs: number) => void;
  /** Called when the transcriber failed. */
  readonly failed: (ending: Ending, error?: unknown) => void;
};

/** Transcribes one stream, with a recogniser of this process or at an upstream. */
export interface StreamTranscriber {
  attach(client: RelayClient): void;
  /** Called when the client takes no more messages. */
  detach(): void;
  /** Called when the client's send buffer has room again. */
  drained(): void;
  /** Transcribes paid audio. The bytes are a view: do not keep them. */
  hear(bytes: Uint8Array): void;
  /** Handles a client message that is not audio; `text` is the whole message. */
  message(type: string, text: string): void;
  /** Called when the client sends no more, while audio may still wait for a hold. */
  keep(): void;
  /** Ends the audio. Resolves when the whole transcript is sent. Safe to call twice. */
  finish(): Promise<void>;
  /** Stops waiting for the remaining transcript. */
  giveUp(): void;
  /** True when the transcriber still has to report the total of audio that it heard, also without a client. */
  readonly isOwed: boolean;
  /** True when the total of heard audio was reported, also to the client. */
  readonly hasReportedTotal: boolean;
  /** Seconds to bill, from the reported seconds up to the seconds passed on. Infinity means all seconds passed on. */
  readonly heardSeconds: number;
  close(): void;
}
