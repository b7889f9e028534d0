import type { CutReason } from '../../../machines/voice-turn.ts';
import type { SttEngine } from '../../engines/engine.ts';
import type { Usage } from '../../kernel/price.ts';
import type { StopSignal } from '../../kernel/stop-signal.ts';
import type { Span } from '../../kernel/trace/span.ts';
import type { Source } from '../../models/catalogue/catalogue.ts';
import type { ImplausibleUsage, Metered } from '../../models/purchase/clamp-usage.ts';
import type { Reserves } from '../billing/session-hold.ts';
import type { TurnUse } from '../billing/turn-meter.ts';
import type { ConversationItem } from './conversation.ts';
import type { ConfigProblem, SessionConfig } from './session-config.ts';

/** A charge of a turn for the use of one source. */
export type TurnCharge = {
  readonly source: Source;
  /** The hold that the charge is taken from (default: the hold that opened the session). */
  readonly sessionHold?: string | undefined;
  /** The model that was used, when several sources offer that model. */
  readonly model?: string | undefined;
  readonly usage: Usage;
  /** The price by another card than the source's, and the use as the journal has it. */
  readonly priced?:
    | { readonly costRaw: bigint; readonly usage: Readonly<Record<string, number>> }
    | undefined;
  /** The upstream's whole report, when it exceeds the possible usage. */
  readonly reported?: ImplausibleUsage | undefined;
  /** The amount paid per call, outside the hold, which pays the margin. */
  readonly paidRaw?: bigint | undefined;
  /** The upstream reported no usage. */
  readonly isEstimated?: boolean | undefined;
  /** True when the charge is for a speculative answer that was not used. */
  readonly isSpeculated?: boolean | undefined;
  /** Span of the purchase, which billing ends. Undefined when the purchase is not traced. */
  readonly span?: Span | undefined;
  /** Class of the failure that broke off the purchase, for its span. Undefined when the purchase completed or was cancelled. */
  readonly brokenBy?: string | undefined;
  /** Measurements for the span, in addition to the billed units. */
  readonly noted?: Pick<Metered, 'note' | 'tokens'> | undefined;
};

export type LlmRequest = {
  readonly config: SessionConfig;
  /** The conversation, oldest item first; an LLM reads as much of its end as fits. */
  readonly items: readonly ConversationItem[];
  /** The caller did not respond to the last answer and is prompted again. */
  readonly isPrompt?: boolean;
  readonly outputCap: number;
  /** Stops buying. */
  readonly signal: StopSignal;
};

/** Words of an answer, or a function that it calls. */
export type AnswerPiece =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'call';
      readonly name: string;
      readonly argumentsJson: string;
      readonly callId?: string;
    };

/** A function call whose arguments cannot be used. */
export type BrokenCall = {
  readonly kind: 'broken';
  readonly name: string;
  readonly callId?: string;
  /** One sentence about the problem, for the model that made the call. */
  readonly problem: string;
};

export type LlmPiece =
  | AnswerPiece
  | BrokenCall
  /** Nothing has followed for a while: a sentence that is whole by now is spoken, and with `isLong` whatever there is. */
  | { readonly kind: 'pause'; readonly isLong: boolean };

/** An answer in progress. For one reader. */
export interface LlmReply {
  /**
   * True when the answer was written to be read: its Markdown and numbers are spoken as people read them aloud. Absent means
   * false.
   */
  readonly isForReading?: boolean;
  /** Resolves to the next piece, or to undefined after the last one. Throws StageFailed. */
  next(): Promise<LlmPiece | undefined>;
  /** Tokens used so far. */
  readonly tokens: { readonly input: number; readonly cached: number; readonly output: number };
  /** Reason why the answer was cut short, known at its end; undefined when the answer is complete. */
  readonly cut: CutReason | undefined;
}

export interface Llm {
  reply(request: LlmRequest): LlmReply;
  /** The caller may have finished: begins an answer, at most one a turn, and does not send it yet. */
  speculate?(request: Omit<LlmRequest, 'signal'>): void;
  /** The caller goes on: drops the speculative answer. */
  forgetSpeculation?(): void;
}

export type TtsPiece = {
  readonly pcm: Int16Array;
  readonly sampleRateHz: number;
  /** The words that begin with this piece; empty where it continues the ones before. */
  readonly text: string;
};

export type SpeakRequest = {
  readonly text: string;
  readonly voice: string;
  readonly speed: number;
  readonly signal: StopSignal;
};

/** Synthesizes speech, first audio first. Stops buying when `signal` fires. Throws StageFailed. */
export interface Tts {
  speak(request: SpeakRequest): AsyncIterable<TtsPiece>;
}

/** The transcriber, LLM and TTS of a session, and their costs. */
export type VoicePipeline = {
  /** The STT engine for these settings. */
  stt(config: SessionConfig): SttEngine;
  readonly llm: Llm;
  readonly voice: Tts;
  /** The model that transcribes the caller with these settings. */
  transcriberModel(config: SessionConfig): string;
  /** Why the stages cannot serve these settings of a session or a response. */
  problemOf(config: SessionConfig): ConfigProblem | undefined;
  /**
   * Returns upper bounds of one turn's cost with these settings and an answer of `outputTokens` (default: the longest answer).
   * These amounts are held before each turn.
   */
  reserves(config: SessionConfig, outputTokens?: number): Reserves;
  /** Takes the charges of a turn, which the caller of this function bills. */
  takeBill(use: TurnUse, requests: 0 | 1): readonly TurnCharge[];
  /**
   * Resolves when the charge of every payment in progress is known, or the wait is over. A payment per call is charged
   * though its caller has left; the next bill includes it.
   */
  paymentsKnown(): Promise<void>;
};

/** A stage failed; the session goes on. */
export class StageFailed extends Error {
  override readonly name = 'StageFailed';
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
