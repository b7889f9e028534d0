import type { CutReason } from '../../../machines/voice-turn.ts';
import type { SttEngine } from '../../engines/engine.ts';
import type { Usage } from '../../kernel/price.ts';
import type { StopSignal } from '../../kernel/stop-signal.ts';
import type { Source } from '../../models/catalogue/catalogue.ts';
import type { ImplausibleUsage, Metered } from '../../models/purchase/clamp-usage.ts';
import type { Span } from '../../platform/tracing/span.ts';
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
  /** Price by another rate card than the source's, with the usage that is journaled. */
  readonly priced?:
    | { readonly costRaw: bigint; readonly usage: Readonly<Record<string, number>> }
    | undefined;
  /** The upstream's whole report, when it exceeds the possible usage. */
  readonly reported?: ImplausibleUsage | undefined;
  /** Amount paid to the source per call. It is not taken from the hold, which pays only the margin. */
  readonly paidRaw?: bigint | undefined;
  /** True when the usage is estimated because the upstream reported none. */
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
  /** Items of the conversation, oldest first. An LLM reads the newest items that fit its context. */
  readonly items: readonly ConversationItem[];
  /** True when the answer prompts a caller who did not respond to the last answer. */
  readonly isPrompt?: boolean;
  readonly outputCap: number;
  /** Signal that stops the answer and all further purchases for it. */
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

/** An answer in progress, which has one reader. */
export interface LlmReply {
  /**
   * True when the answer was written to be read: its Markdown and numbers are spoken as people read them aloud. Absent means
   * false.
   */
  readonly isForReading?: boolean;
  /** Resolves to the next piece, or to undefined after the last one. Throws StageFailed. */
  next(): Promise<LlmPiece | undefined>;
  /** Tokens that the answer has used up to now. */
  readonly tokens: { readonly input: number; readonly cached: number; readonly output: number };
  /** Reason why the answer was cut short, known at its end; undefined when the answer is complete. */
  readonly cut: CutReason | undefined;
}

export interface Llm {
  reply(request: LlmRequest): LlmReply;
  /** Begins an answer that is not sent yet, because the caller may have finished. At most one per turn. */
  speculate?(request: Omit<LlmRequest, 'signal'>): void;
  /** Drops the speculative answer, because the caller speaks on. */
  forgetSpeculation?(): void;
}

export type TtsPiece = {
  readonly pcm: Int16Array;
  readonly sampleRateHz: number;
  /** Words whose audio begins with this piece; empty when the piece continues earlier words. */
  readonly text: string;
};

export type SpeakRequest = {
  readonly text: string;
  readonly voice: string;
  readonly speed: number;
  readonly signal: StopSignal;
};

/**
 * Synthesizes speech and yields the first audio as early as possible. Makes no purchase once `signal` fires. Throws
 * StageFailed.
 */
export interface Tts {
  speak(request: SpeakRequest): AsyncIterable<TtsPiece>;
}

/** The transcriber, LLM and TTS of a session, and their costs. */
export type VoicePipeline = {
  /** Returns the STT engine for these settings. */
  stt(config: SessionConfig): SttEngine;
  readonly llm: Llm;
  readonly voice: Tts;
  /** Returns the id of the model that transcribes the caller with these settings. */
  transcriberModel(config: SessionConfig): string;
  /** Returns the reason why the stages cannot serve these settings of a session or response. Undefined when they can. */
  problemOf(config: SessionConfig): ConfigProblem | undefined;
  /**
   * Returns upper bounds of one turn's cost with these settings and an answer of `outputTokens` (default: the longest answer).
   * These amounts are held before each turn.
   */
  reserves(config: SessionConfig, outputTokens?: number): Reserves;
  /** Returns the charges of a turn and removes them from the pipeline. The caller of this function bills them. */
  takeBill(use: TurnUse, requests: 0 | 1): readonly TurnCharge[];
  /**
   * Resolves when the charge of every payment in progress is known, or after the longest wait. A payment per call is charged
   * even when its caller has left; the next bill includes it.
   */
  paymentsKnown(): Promise<void>;
};

/** Thrown when a stage failed. The session goes on. */
export class StageFailed extends Error {
  override readonly name = 'StageFailed';
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
