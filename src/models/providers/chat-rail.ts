import type { Json } from '../../kernel/json.ts';
import type { StopSignal } from '../../kernel/stop-signal.ts';
import type { ChatMember } from './chat-members.ts';
import type { Effort } from './efforts.ts';
import type { Outcome } from './outcome.ts';
import type { PaymentMethod } from './payment-method.ts';
import type { Sampling } from './sampling.ts';
import type { TakenThoughts } from './upstream-pool.ts';

/** One chat request to one upstream. */
export type ChatCall = {
  readonly agentId: number;
  /** Amount held for this request, or for the session that it is a turn of. */
  readonly heldRaw: bigint;
  /** Part of `heldRaw` that is spent and not settled yet. Absent: 0. */
  readonly spentRaw?: bigint;
  /** Name of the model at the upstream. */
  readonly model: string;
  /** Name of the model in the answer. Undefined: the upstream's name. */
  readonly servedAs?: string | undefined;
  /** Payment of a call that is not billed to an account of this server. */
  readonly paymentMethod?: PaymentMethod | undefined;
  /**
   * Settings for the `cache_control` marks that this server adds. Undefined when the upstream needs no marks or the caller has
   * set marks.
   */
  readonly breakpoints?: Breakpoints | undefined;
  /** Reasoning efforts of a translated request that the model accepts. Undefined when none are known. */
  readonly efforts?: readonly Effort[] | undefined;
  /** Rule of the model for `temperature` and `top_p` in a translated request. Undefined when no restriction is known. */
  readonly sampling?: Sampling | undefined;
  /**
   * The caller's request, unchanged. A rail replaces the model's name, and renames the token cap where the upstream has another
   * member.
   */
  readonly body: Readonly<Record<string, unknown>>;
};

/** Settings for the `cache_control` marks that this server adds to a prompt. */
export type Breakpoints = {
  /** Shortest prefix that the upstream's cache stores, in tokens. */
  readonly leastTokens: number;
};

export type TokenUsage = {
  /** Prompt tokens, including the cached ones. */
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  /** Prompt tokens written to the upstream's cache. */
  readonly cacheWriteTokens?: number;
  /** Extra price of cache writes over uncached prompt tokens, as a number of prompt tokens, exact to 0.01. */
  readonly cacheWriteSurcharge?: number;
};

/**
 * Facts of an answer for its trace, known at its end: the model by the upstream's name, and the finish reason of each choice.
 */
export type AnswerNote = {
  readonly model?: string | undefined;
  readonly finishReasons?: string[] | undefined;
};

/** Usage of an answer as the upstream reports it. */
export type Reported = {
  /** Usage that the upstream reports. Null when the upstream reported none, so that the gateway estimates. */
  readonly usage: TokenUsage | null;
  /** Characters that the model wrote, for the estimate when `usage` is null. */
  readonly answerChars: number;
  /** Returns the notes of an answer for its trace. A function, because only traced answers need the notes. */
  readonly note?: (() => AnswerNote) | undefined;
};

/** Answer of an upstream, with its body unchanged. */
export type ChatCompletion = Reported & {
  readonly body: Uint8Array;
  readonly contentType: string;
  /** Parsed body, with the upstream's name of the model. Undefined when the rail did not parse the body. */
  readonly json?: Json | undefined;
};

export type ChatOutcome = Outcome<ChatCompletion>;

/** Request in the Messages dialect, for an upstream that speaks the dialect. */
export type MessagesCall = ChatCall & {
  /** Headers of the caller that an upstream of the dialect gets: `anthropic-beta`, when it is set. */
  readonly headers: Readonly<Record<string, string>>;
};

/** Upstream that speaks the Messages dialect. Requests and answers are relayed unchanged, except for the model's name. */
export interface MessagesRail {
  complete(call: MessagesCall, signal: StopSignal): Promise<ChatOutcome>;
  /** Streams the answer in named events of the Messages dialect, without `message_stop`. */
  stream(call: MessagesCall, signal: StopSignal): Promise<Outcome<{ readonly stream: ChatStream }>>;
  /** Counts the tokens of a prompt. The count is free. */
  count(
    call: MessagesCall,
    signal: StopSignal,
  ): Promise<Outcome<{ readonly status: number; readonly inputTokens: number }>>;
}

/** A way to chat at one upstream. Failures of the upstream are outcomes and not rejections; `signal` ends the request. */
export interface ChatRail {
  /**
   * Rail for the Messages dialect, set when the upstream speaks it. Such an upstream caches only the marked parts of a prompt.
   */
  readonly messages?: MessagesRail;
  /** Forms in which the upstream accepts earlier reasoning of its models. Undefined when the upstream accepts none. */
  readonly thoughts?: TakenThoughts | undefined;
  /** Members that only some vendors accept and this upstream does. Absent: none. */
  readonly chatMembers?: readonly ChatMember[] | undefined;
  /** True when the upstream requires a strict order of roles. */
  readonly strictOrder?: boolean | undefined;
  /** True when the upstream signs its tool calls and accepts earlier calls only with their signatures. */
  readonly signsCalls?: boolean | undefined;
  complete(call: ChatCall, signal: StopSignal): Promise<ChatOutcome>;
  /** Streams the answer. The outcome is `completed` when the first event has come. */
  stream(call: ChatCall, signal: StopSignal): Promise<Outcome<{ readonly stream: ChatStream }>>;
}

/**
 * Chat answer that is still arriving, as events of the OpenAI dialect. A stream for a caller of the Messages dialect has the
 * events of that dialect.
 */
export interface ChatStream {
  /**
   * Returns the next whole events, unchanged except for the model's name, without the terminator and without usage that the
   * caller did not request; undefined at the end. Throws StreamBroken when the upstream ends the stream without its terminator.
   * For one reader.
   */
  next(): Promise<Uint8Array | undefined>;
  /** Usage of the stream up to now. */
  metered(): Reported;
  /** Stops reading and aborts the upstream request. */
  stop(): void;
}
