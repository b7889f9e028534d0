import type { AnswerRequest, SessionProblem } from '../../voice/session/answer-request.ts';
import type { Conversation, ConversationItem } from '../../voice/session/conversation.ts';
import type { SessionConfig } from '../../voice/session/session-config.ts';
import type { ActionItem } from '../voice/call-client.ts';

/** A function call of the model. */
export type ToolItem = Pick<ActionItem, 'arguments' | 'callId' | 'id' | 'name' | 'problem'>;

type ToolSession = {
  readonly config: SessionConfig;
  readonly conversation: Conversation;
  respond(request: AnswerRequest): SessionProblem | undefined;
};

/** Adds the results of tools to the conversation of a live call, and requests the model's answers to them. */
export class ToolTurns {
  readonly #session: ToolSession;
  readonly #isMuted: () => boolean;
  /** An answer that waits for the one in progress; whether it may call tools. */
  #owed: { readonly mayCall: boolean } | undefined;

  constructor(session: ToolSession, isMuted: () => boolean) {
    this.#session = session;
    this.#isMuted = isMuted;
  }

  /**
   * Stores the latest output of a tool call. The final output and its call move to the end: the model answers the items that it
   * reads last.
   */
  output(call: ToolItem, output: string, isFinal: boolean): void {
    const { conversation } = this.#session;
    const id = `out_${call.id}`;
    const item: ConversationItem = {
      id,
      type: 'function_call_output',
      status: 'completed',
      callId: call.callId,
      output,
    };
    if (isFinal) {
      const called = conversation.find(call.id);
      conversation.remove(id);
      conversation.remove(call.id);
      if (called !== undefined) conversation.add(called);
    }
    if (conversation.find(id) === undefined) conversation.add(item);
    else conversation.replace(item);
  }

  /** Asks the model for its answer, at once or behind the answer in progress; without `mayCall` it calls no more tools. */
  answer(mayCall: boolean): void {
    if (this.#isMuted()) return;
    const { config } = this.#session;
    const request = {
      config: mayCall ? config : { ...config, toolChoice: 'none' as const },
      metadata: {},
      isInConversation: true,
    };
    this.#owed = this.#session.respond(request) === undefined ? undefined : { mayCall };
  }

  /** Handles the end of an answer: requests the answer that waits. */
  answered(): void {
    if (this.#owed !== undefined) this.answer(this.#owed.mayCall);
  }
}
