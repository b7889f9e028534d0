import type { Ending } from '../../../machines/transcription-stream.ts';
import type { TurnCause } from '../../../machines/voice-turn.ts';
import type { StopSignal } from '../../kernel/stop-signal.ts';
import type { Heard } from '../stt/transcriber-events.ts';
import type { AnswerReceipt, AnswerRequest } from './answer-request.ts';
import type { AddedItem, ConversationItem } from './conversation.ts';

/** Reason for the end of an utterance. Times are milliseconds of the caller's audio since the session began. */
export type UtteranceEnd =
  /** Turn detection heard the caller stop at `atMs`. */
  | { readonly kind: 'stopped'; readonly atMs: number }
  /** The client ended the utterance. */
  | { readonly kind: 'committed' }
  /** The caller said nothing to an answer for the client's `idleTimeoutMs`. */
  | { readonly kind: 'silent'; readonly fromMs: number; readonly toMs: number };

/** Milliseconds of a spoken answer that the caller has heard. */
export type Played = { readonly itemId: string; readonly heardMs: number };

/**
 * The client of a voice session. Each protocol has one adapter: it turns calls into messages, and calls `VoiceSession` for the
 * client's messages. Calls come in order; after `end`, only calls for the answer that `end` cut short follow.
 */
export interface VoiceClient {
  /** Time of the client's last message, in milliseconds of the monotonic clock. */
  readonly lastEventAtMs: number;
  /**
   * Time when the first audio of the present answer went out, on a line that paces audio. Absent when audio goes out as it is
   * sent.
   */
  readonly firstSoundAtMs?: number | undefined;
  /** Upper bound in milliseconds of one answer on a client that gets audio in real time (default: `MACHINE_LIMITS.realtime.turnMs`). */
  readonly turnMs?: number;
  /** True while the client plays other audio to the caller, whose silence does not count meanwhile (default: false). */
  readonly isSounding?: boolean;
  /** Runs `work` and sends all messages that it produces together. */
  batch(work: () => void): void;
  /** True when the send buffer has room for more speech. */
  readonly hasRoom: boolean;
  /** Resolves when the send buffer has room for more speech, or when `signal` fires. */
  room(signal: StopSignal): Promise<void>;

  /** Called when turn detection hears the caller begin. `itemId` is the id of the item that the utterance becomes. */
  speechStarted(itemId: string, atMs: number): void;
  /** Called when an utterance has ended and is in the conversation, without its words. */
  utterance(added: AddedItem, end: UtteranceEnd): void;
  /** Called with the words of the utterance in progress, which may still change. */
  interim?(itemId: string, text: string): void;
  /** Called when an utterance was dropped: it is not in the conversation and has no words. */
  forgotten?(itemId: string): void;
  /** Called with the words of an utterance that has ended. */
  transcript(itemId: string, heard: Heard): void;
  /** Returns true when the words of an utterance need an answer. When it is absent, all words do. */
  isAddressed?(text: string): boolean;
  /** Called when the transcriber failed. The utterance is lost, and the session goes on. */
  transcriberFailed(error: Error): void;

  /**
   * Begins an answer. `outputCap` is the number of tokens held for the answer; `isShortened` is true when the model's longest
   * answer needs more.
   */
  createAnswer(
    request: AnswerRequest,
    room: { readonly outputCap: number; readonly isShortened: boolean },
  ): AnswerClient;
  /**
   * Handles a barge-in: drops audio that was sent and not played. Returns what the caller has heard of each answer that this
   * cuts, in order; nothing when the client reports it itself (`VoiceSession.heardUntil`).
   */
  clearPlayback(): readonly Played[];
  /** Ends the session: sends the reason, then closes the socket. `ending.code` is a WebSocket close code. */
  end(ending: Ending): void;
  /**
   * Resolves once the caller has heard the words spoken after `end`, which are billed as well. Absent when nothing is spoken.
   */
  readonly heardOut?: Promise<void>;
}

/** Receives the events of one answer. `done` comes last, once the turn is in the journal. */
export interface AnswerClient {
  readonly id: string;
  created(): void;
  /** Called when a message or a function call of the answer begins. */
  itemAdded(added: AddedItem): void;
  /** Sends words of the message. Spoken words come before their audio. */
  text(delta: string): void;
  /** Sends audio in the session's output format. Does not keep the array, which the next audio overwrites. */
  audio(bytes: Uint8Array): void;
  /** Called when the item is complete, or when an answer that was cut leaves it incomplete. */
  itemDone(item: ConversationItem, previousId: string | null): void;
  /**
   * Called when the model made a call with unusable arguments; `problem` is a sentence for the model. When it is absent, such
   * calls are dropped.
   */
  callBroken?(item: Extract<ConversationItem, { type: 'function_call' }>, problem: string): void;
  /** Ends the answer. `cause` is the reason for an early end; without a receipt nothing was charged. */
  done(cause: TurnCause | undefined, receipt: AnswerReceipt | undefined): void;
}
