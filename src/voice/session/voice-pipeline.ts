import type { CutReason } from '../../../machines/voice-turn.ts';
import type { SttEngine } from '../../engines/engine.ts';
import type { Usage } from '../../kernel/price.ts';
import type { Source } from '../../models/catalogue/catalogue.ts';
import type { Disbelieved } from '../../models/purchase/believe.ts';
import type { Reserves } from '../billing/session-holds.ts';
import type { TurnUse } from '../billing/turn-meter.ts';
import type { ConfigProblem, SessionConfig } from '../protocols/openai-realtime/session-config.ts';
import type { ConversationItem } from './conversation.ts';

/** What a turn used of one source. */
export type TurnCharge = {
  readonly source: Source;
  /** Which of the session's holds pays it; the one that it was opened with where none is named. */
  readonly sessionHold?: string;
  /** The model that was bought, where it could be of several sources. */
  readonly model?: string;
  readonly usage: Usage;
  /** All that its upstream tells of, where it cannot have come to that much. */
  readonly told?: Disbelieved;
  /** It was paid by itself, so much; its hold pays the margin. */
  readonly paidRaw?: bigint;
  /** The upstream did not say what it used. */
  readonly isEstimated?: boolean;
  /** It was asked before the turn had ended, and in vain. */
  readonly isSpeculated?: boolean;
};

export type LlmRequest = {
  readonly config: SessionConfig;
  /** What was said so far, oldest first; a LLM takes as much of the end as fits it. */
  readonly items: readonly ConversationItem[];
  /** The caller did not respond to the last answer and is prompted again. */
  readonly isPrompt?: boolean;
  readonly outputCap: number;
  /** Stops buying. */
  readonly signal: AbortSignal;
};

export type LlmPiece =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'call';
      readonly name: string;
      readonly argumentsJson: string;
      readonly callId?: string;
    };

/** An answer while it is being thought of. For one reader. */
export interface LlmReply {
  /** Undefined: that was all. Throws StageFailed. */
  next(): Promise<LlmPiece | undefined>;
  /** What it has come to so far. */
  readonly tokens: { readonly input: number; readonly cached: number; readonly output: number };
  /** Why it ended before its end, known when it is over. Undefined: it did not. */
  readonly cut: CutReason | undefined;
}

/** What answers. */
export interface Llm {
  reply(request: LlmRequest): LlmReply;
  /** The caller may have finished: the answer is begun, at most once a turn, and not sent yet. */
  speculate?(request: Omit<LlmRequest, 'signal'>): void;
  /** The caller has not: what was begun is given up. */
  forgetSpeculation?(): void;
}

export type TtsPiece = {
  readonly pcm: Int16Array;
  readonly sampleRateHz: number;
  /** The words that begin with this piece; empty where it goes on with the ones before. */
  readonly text: string;
};

/** What speaks: a sentence at a time, first sound first. Stops buying when `signal` fires. Throws StageFailed. */
export interface Tts {
  speak(request: {
    readonly text: string;
    readonly voice: string;
    readonly speed: number;
    readonly signal: AbortSignal;
  }): AsyncIterable<TtsPiece>;
}

/** The three that make a session, and what they cost. */
export type VoicePipeline = {
  /** What hears a session that is set up like that. */
  stt(config: SessionConfig): SttEngine;
  readonly llm: Llm;
  readonly voice: Tts;
  /** The model that transcribes the caller, under a session as its client has set it up. */
  transcriberModel(config: SessionConfig): string;
  /** Why a session cannot be set up like that, or a response asked for. */
  problemOf(config: SessionConfig): ConfigProblem | undefined;
  /**
   * The most that one ordinary turn can cost as the session is set up, with an answer of so many tokens, or else the
   * longest: held before each one begins.
   */
  reserves(config: SessionConfig, outputTokens?: number): Reserves;
  /** What a turn has bought. The caller of this function bills it. */
  takeBill(use: TurnUse, requests: 0 | 1): readonly TurnCharge[];
  /**
   * Resolves when it is known what every payment under way has bought, or the wait is over: one that
   * is paid by itself is bought though its caller has left. It is in the next bill then.
   */
  paymentsKnown(): Promise<void>;
};

/** One of the three could not do its part; the session goes on. */
export class StageFailed extends Error {
  override readonly name = 'LegFailed';
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
