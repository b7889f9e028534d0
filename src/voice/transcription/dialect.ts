import type { Ending } from '../../../machines/transcription-stream.ts';
import type { ListenEvent } from '../../models/providers/deepgram/listen-event.ts';
import type { SocketFrame } from '../live/downlink.ts';
import type { Heard, Segment } from '../stt/transcriber-events.ts';

/** The audio heard in all. */
export type Total = { readonly seconds: number };

/** Sends one client its transcript, in the messages of its dialect. Times are milliseconds of audio. */
export interface TranscriptWriter {
  /** The client is there, and has had no message. */
  attached?(): void;
  /** A message of the client that is the dialect's own, in order with the audio. */
  message?(type: string, text: string): void;
  /** Paid audio was heard up to `nowMs`. The bytes are a view: do not keep them. */
  took(bytes: Uint8Array, nowMs: number): void;
  began(atMs: number): void;
  segment(segment: Segment): void;
  heard(heard: Heard): void;
  /** The client sent Finalize, and has all the words already. */
  nothingLeft(nowMs: number): void;
  /** A client message was invalid; the stream goes on. */
  misunderstood(reason: string): void;
  /** Sends the last messages before the close frame. Without a total, the client has it already. */
  ended(ending: Ending, total: Total | undefined): void;
}

type Send = (message: Readonly<Record<string, unknown>>) => void;

/** The wire format of a live transcription, and its timeouts. The session is the same for all. */
export type TranscriptDialect = {
  readonly writer: (send: Send) => TranscriptWriter;
  /** The client's frame for a frame of an upstream, which was parsed as `event`. */
  readonly relayed: (frame: SocketFrame, event: ListenEvent | undefined) => SocketFrame | undefined;
  /**
   * Returns the message that an upstream on this server's account gets for a client's message, without settings that are billed
   * in addition to the audio. Undefined when the message is not passed on; the writer's `misunderstood` is called then.
   */
  readonly passedOn: (type: string, text: string) => string | undefined;
  /** The ending for this close of the upstream. */
  readonly brokenOff: (code: number, reason: string) => Ending;
  /** True when the server itself keeps an upstream open, because the dialect's clients have no message for it. */
  readonly keepsUpstream: boolean;
  /** Silence that ends an utterance. */
  readonly silenceDurationMs: number;
  /** Milliseconds that a stream may be without audio. */
  readonly quietMs: number;
  /** Milliseconds that a stream may be without audio when the client sends a message at least every `quietMs`. */
  readonly keptMs: number;
  /** The ending of a stream without audio. */
  readonly quiet: Ending;
};
