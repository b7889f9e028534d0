import type { Ending } from '../../../machines/transcription-stream.ts';
import type { RelayClient } from '../live/downlink.ts';
import type { TranscriptWriter } from './dialect.ts';

/** Callbacks to which the transcriber of a stream reports. */
export type StreamTranscriberEvents = {
  readonly writer: TranscriptWriter;
  /** The stream was heard up to `seconds`; Infinity is all that was let through so far. */
  readonly heardUpTo: (seconds: number) => void;
  /** The transcriber makes progress, without words yet. */
  readonly progressed: () => void;
  /** An utterance is transcribed, `latencyMs` after its end. */
  readonly transcribed: (latencyMs: number) => void;
  /** The transcriber failed. */
  readonly failed: (ending: Ending, error?: unknown) => void;
};

/** Transcribes one stream: a recogniser of this process, or an upstream. */
export interface StreamTranscriber {
  attach(client: RelayClient): void;
  /** The client takes no more messages. */
  detach(): void;
  /** The client's send buffer has room again. */
  drained(): void;
  /** Takes paid audio. The bytes are a view: do not keep them. */
  hear(bytes: Uint8Array): void;
  /** Takes a client message beside the audio: its type, and its text. */
  message(type: string, text: string): void;
  /** The client sends no more, but audio may still wait for a hold. */
  keep(): void;
  /** Ends the audio. Resolves when the whole transcript is sent. Safe to call twice. */
  finish(): Promise<void>;
  /** Stops waiting for the remaining transcript. */
  giveUp(): void;
  /** True when the transcriber still has to report the total of audio that it heard, also without a client. */
  readonly isOwed: boolean;
  /** The total was reported, to the client, too. */
  readonly hasReportedTotal: boolean;
  /**
   * The seconds to bill: at least the reported seconds and at most the seconds let through. Infinity means all seconds let
   * through.
   */
  readonly heardSeconds: number;
  close(): void;
}
