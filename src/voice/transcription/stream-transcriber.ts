import type { Ending } from '../../../machines/transcription-stream.ts';
import type { RelayClient } from '../relay/downlink.ts';
import type { TranscriptWriter } from './dialect.ts';

/** What the transcriber of a stream reports of it. */
export type StreamTranscriberEvents = {
  readonly writer: TranscriptWriter;
  /** So much of the stream was heard, in seconds; of what was let through so far, Infinity is all. */
  readonly told: (seconds: number) => void;
  /** It goes on with what it was given, though it has nothing to tell yet. */
  readonly progressed: () => void;
  /** What was said up to a pause is transcribed, so long after its end. */
  readonly madeOut: (latencyMs: number) => void;
  /** It can hear no more. */
  readonly failed: (ending: Ending, error?: unknown) => void;
};

/** Who transcribes the caller on one stream: a recogniser of this process, or an upstream. */
export interface StreamTranscriber {
  attach(client: RelayClient): void;
  /** The client hears no more. */
  detach(): void;
  /** The client has taken what was unsent. */
  drained(): void;
  /** Audio that is paid for. The bytes are a view: nothing of it is kept. */
  hear(bytes: Uint8Array): void;
  /** A word of the client beside its audio, of this type and as it came. */
  word(type: string, text: string): void;
  /** Its client has no more to say, but there may be audio yet that waits for money. */
  keep(): void;
  /** No more audio comes. Resolves when everything is told; asking again changes nothing. */
  finish(): Promise<void>;
  /** Drops the rest: it is not waited for any more. */
  giveUp(): void;
  /** Whether it will still report how much it has heard, also without a client. */
  readonly isOwed: boolean;
  /** The client was told what the stream came to. */
  readonly hasToldTotal: boolean;
  /** How much of the audio is to be billed, at least what was told and at most all let through; Infinity is all of it. */
  readonly heardSeconds: number;
  close(): void;
}
