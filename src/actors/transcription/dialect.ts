import type { Ending } from '../../../machines/transcription-stream.ts';
import type { Heard, Segment } from '../ear-events.ts';

/** What a stream came to. */
export type Total = { readonly seconds: number };

/** Tells one client what is heard, in the messages of its dialect. Times are milliseconds of audio. */
export interface TranscriptWriter {
  /** Audio that is paid for, which has been heard up to `nowMs`. The bytes are a view: nothing of it is kept. */
  took(bytes: Uint8Array, nowMs: number): void;
  began(atMs: number): void;
  segment(segment: Segment): void;
  heard(heard: Heard): void;
  /** The client asked for everything said so far, and there is nothing that it was not told. */
  nothingLeft(nowMs: number): void;
  /** A message of the client means nothing; the stream goes on. */
  misunderstood(reason: string): void;
  /** The last words before the close frame. */
  ended(ending: Ending, total: Total): void;
}

type Send = (message: Readonly<Record<string, unknown>>) => void;

/** One spelling of a live transcription on the wire, and how patient it is. The session is the same for all. */
export type TranscriptDialect = {
  readonly writer: (send: Send) => TranscriptWriter;
  /** Silence that ends an utterance. */
  readonly silenceDurationMs: number;
  /** So long a stream may be without audio. */
  readonly quietMs: number;
  /** So long when the client says meanwhile that it is there, at least every `quietMs`. */
  readonly keptMs: number;
  /** How a stream ends that was quiet for too long. */
  readonly quiet: Ending;
};
