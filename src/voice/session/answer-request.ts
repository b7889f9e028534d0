import type { ConversationItem } from './conversation.ts';
import type { SessionConfig } from './session-config.ts';

/** A request for one answer, with the settings that it uses. */
export type AnswerRequest = {
  readonly config: SessionConfig;
  /** Labels that the client attached to the request. They are returned with the answer. */
  readonly metadata: Readonly<Record<string, string>>;
  /** False for an out-of-band answer, which does not enter the conversation. */
  readonly isInConversation: boolean;
  /** Items that the LLM reads in place of the conversation. */
  readonly context?: readonly ConversationItem[];
  /** True when the answer prompts a caller who did not respond to the last answer. */
  readonly isPrompt?: boolean;
  /** True when the client cancelled the answer before it began. */
  readonly isCancelled?: boolean;
};

/** Returns true when the answer responds to everything that the caller has said before it begins. */
export const readsConversation = (request: AnswerRequest): boolean =>
  request.isInConversation &&
  request.context === undefined &&
  !request.isPrompt &&
  !request.isCancelled;

/** Tokens that an answer used. */
export type AnswerTokens = {
  readonly textIn: number;
  /** The part of `textIn` that the upstream read from its cache. */
  readonly cachedIn: number;
  readonly textOut: number;
  readonly heard: number;
  readonly spoken: number;
};

/** Tokens, cost and stage times of an answer that is in the journal. */
export type AnswerReceipt = {
  readonly tokens: AnswerTokens;
  readonly costRaw: bigint;
  /** The part of `costRaw` for speculative answers that were not used; undefined when the turn had no such answers. */
  readonly speculationCostRaw?: bigint | undefined;
  /** Milliseconds that each stage took. */
  readonly stagesMs: Readonly<
    Partial<Record<'prompt' | 'reply' | 'first_audio' | 'journal', number>>
  >;
};

/** Reason why the session rejects a client's request. The session goes on. */
export type SessionProblem = { readonly code: string; readonly message: string };
