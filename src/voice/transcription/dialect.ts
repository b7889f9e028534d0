import type { Ending } from '../../../machines/transcription-stream.ts';
import type { ListenEvent } from '../../models/providers/deepgram/listen-event.ts';
import type { Frame } from '../relay/downlink.ts';
import type { Heard, Segment } from '../stt/transcriber-events.ts';

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
  /** The last words before the close frame. Without a total the client knows it already. */
  ended(ending: Ending, total: Total | undefined): void;
}

type Send = (message: Readonly<Record<string, unknown>>) => void;

/** One spelling of a live transcription on the wire, and how patient it is. The session is the same for all. */
export type TranscriptDialect = {
  readonly writer: (send: Send) => TranscriptWriter;
  /** What the client gets of a frame of an upstream that transcribes for it; the event is what was read of it. */
  readonly relayed: (frame: Frame, event: ListenEvent | undefined) => Frame | undefined;
  /** How a stream ends whose upstream closed it so. */
  readonly brokenOff: (code: number, reason: string) => Ending;
  /** Whether an upstream has to be told that a client is there, which has no word for it. */
  readonly keepsUpstream: boolean;
  /** Silence that ends an utterance. */
  readonly silenceDurationMs: number;
  /** So long a stream may be without audio. */
  readonly quietMs: number;
  /** So long when the client says meanwhile that it is there, at least every `quietMs`. */
  readonly keptMs: number;
  /** How a stream ends that was quiet for too long. */
  readonly quiet: Ending;
};
