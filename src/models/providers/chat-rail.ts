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
  /** The upstream's own name of the model. */
  readonly model: string;
  /** The name that the answer gives the model; without one it is the upstream's. */
  readonly servedAs?: string | undefined;
  /** Payment of a call that is not billed to an account of this server. */
  readonly paymentMethod?: PaymentMethod | undefined;
  /** Set where this server marks the prompt, if the upstream needs marks and the caller has set none. */
  readonly breakpoints?: Breakpoints | undefined;
  /** The efforts that the model takes of a translated request; undefined: not known, or none. */
  readonly efforts?: readonly Effort[] | undefined;
  /** Which of `temperature` and `top_p` a translated request may have. Undefined: both, or not known. */
  readonly sampling?: Sampling | undefined;
  /** The caller's request as it came; a rail changes the model's name, and the cap's where its upstream has another. */
  readonly body: Readonly<Record<string, unknown>>;
};

/** Prompts are to be marked for the cache of the upstream. */
export type Breakpoints = {
  /** The shortest prefix that its cache takes. */
  readonly leastTokens: number;
};

export type TokenUsage = {
  /** All prompt tokens, the cached ones included. */
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  /** Prompt tokens written to the upstream's cache. */
  readonly cacheWriteTokens?: number;
  /** Surcharge of cache writes over other prompt tokens, in prompt tokens, exact to a hundredth. */
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
  /** Null: the upstream did not say, and the gateway has to estimate. */
  readonly usage: TokenUsage | null;
  /** Length of everything the model wrote, for that estimate. */
  readonly answerChars: number;
  /** A function, since only a traced answer needs it. */
  readonly note?: (() => AnswerNote) | undefined;
};

/** An upstream's answer as it came. */
export type ChatCompletion = Reported & {
  readonly body: Uint8Array;
  readonly contentType: string;
  /** The body as the rail has read it, if it has: under the name that the upstream has for the model. */
  readonly json?: Json | undefined;
};

export type ChatOutcome = Outcome<ChatCompletion>;

/** A request of the Messages dialect, for an upstream that speaks it. */
export type MessagesCall = ChatCall & {
  /** Headers of the caller that an upstream of the dialect gets: `anthropic-beta`, when it is set. */
  readonly headers: Readonly<Record<string, string>>;
};

/** An upstream in the Messages dialect: requests and answers go as they came, but for the name of the model. */
export interface MessagesRail {
  complete(call: MessagesCall, signal: StopSignal): Promise<ChatOutcome>;
  /** Streams the answer in named events of the Messages dialect, without `message_stop`. */
  stream(call: MessagesCall, signal: StopSignal): Promise<Outcome<{ readonly stream: ChatStream }>>;
  /** Counts the tokens of a prompt, which costs nothing. */
  count(
    call: MessagesCall,
    signal: StopSignal,
  ): Promise<Outcome<{ readonly status: number; readonly inputTokens: number }>>;
}

/** A way to chat at one upstream. Failures of the upstream are outcomes and not rejections; `signal` ends the request. */
export interface ChatRail {
  /** Set where the upstream itself speaks the Messages dialect. Such an upstream caches what is marked of a prompt, and no more. */
  readonly messages?: MessagesRail;
  /** Set where the upstream takes back what its models thought. */
  readonly thoughts?: TakenThoughts | undefined;
  /** Members that only some vendors accept and this upstream does. Absent: none. */
  readonly chatMembers?: readonly ChatMember[] | undefined;
  /** Set where the upstream keeps to a strict order of roles. */
  readonly strictOrder?: boolean | undefined;
  /** Set where the upstream signs its calls, and takes them back under their signatures alone. */
  readonly signsCalls?: boolean | undefined;
  complete(call: ChatCall, signal: StopSignal): Promise<ChatOutcome>;
  /** Streams the answer. The outcome is `completed` when the first event has come. */
  stream(call: ChatCall, signal: StopSignal): Promise<Outcome<{ readonly stream: ChatStream }>>;
}

/** A chat answer that is still coming, in the events of the OpenAI dialect unless it says otherwise. */
export interface ChatStream {
  /**
   * Returns the next whole events, unchanged except for the model's name, without the terminator and without usage that the
   * caller did not request; undefined at the end. Throws StreamBroken when the upstream ends the stream without its terminator.
   * For one reader.
   */
  next(): Promise<Uint8Array | undefined>;
  /** Usage of the stream up to now. */
  metered(): Reported;
  /** Stops buying. */
  stop(): void;
}
