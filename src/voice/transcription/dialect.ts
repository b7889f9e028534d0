import type { Ending } from '../../../machines/transcription-stream.ts';
import type { SocketFrame } from '../live/downlink.ts';
import type { Heard, Segment } from '../stt/transcriber-events.ts';

/** Duration of all heard audio. */
export type Total = { readonly seconds: number };

/** Sends one client its transcript, in the messages of its dialect. Times are milliseconds of audio. */
export interface TranscriptWriter {
  /** Called when the client is attached, before its first message. */
  attached?(): void;
  /** Handles a client message that is specific to the dialect, in order with the audio. */
  message?(type: string, text: string): void;
  /** Called when paid audio was heard, up to `nowMs`. The bytes are a view: do not keep them. */
  took(bytes: Uint8Array, nowMs: number): void;
  began(atMs: number): void;
  segment(segment: Segment): void;
  heard(heard: Heard): void;
  /** Called when the client sent `Finalize` and already has all words. */
  nothingLeft(nowMs: number): void;
  /** Called when a client message was invalid. The stream goes on. */
  misunderstood(reason: string): void;
  /** Sends the last messages before the close frame. `total` is undefined when the client already has the total. */
  ended(ending: Ending, total: Total | undefined): void;
}

/** Event of an upstream about the audio that was sent to it. */
export type ListenEvent =
  | {
      readonly kind: 'results';
      readonly text: string;
      readonly isFinal: boolean;
      readonly speechFinal: boolean;
      /**
       * End of the audio with the words, in seconds. Infinity when not reported: the words cover all audio up to now.
       */
      readonly endSeconds: number;
    }
  | {
      readonly kind: 'metadata';
      /** Seconds of audio that the upstream processed and bills. Null when not reported. */
      readonly seconds: number | null;
    };

type Send = (message: Readonly<Record<string, unknown>>) => void;

/** Wire format and timeouts of a live transcription, whose session is the same for all dialects. */
export type TranscriptDialect = {
  readonly writer: (send: Send) => TranscriptWriter;
  /** Returns the client's frame for an upstream's frame, which was parsed as `event`. Undefined when nothing is sent. */
  readonly relayed: (frame: SocketFrame, event: ListenEvent | undefined) => SocketFrame | undefined;
  /**
   * Returns the message that an upstream on this server's account gets for a client's message, without settings that are billed
   * in addition to the audio. Undefined when the message is not passed on; the writer's `misunderstood` is called then.
   */
  readonly passedOn: (type: string, text: string) => string | undefined;
  /** Returns the ending for the upstream's close code and reason. */
  readonly brokenOff: (code: number, reason: string) => Ending;
  /** True when the server itself keeps an upstream open, because the dialect's clients have no message for it. */
  readonly keepsUpstream: boolean;
  /** Milliseconds of silence that end an utterance. */
  readonly silenceDurationMs: number;
  /** Milliseconds that a stream may be without audio. */
  readonly quietMs: number;
  /** Milliseconds that a stream may be without audio when the client sends a message at least every `quietMs`. */
  readonly keptMs: number;
  /** Ending of a stream that was without audio for too long. */
  readonly quiet: Ending;
};
