import type { Clock, TimerHandle } from '../../kernel/clock.ts';
import type { AnswerRequest } from '../../voice/session/answer-request.ts';
import type { ConversationItem } from '../../voice/session/conversation.ts';
import type { VoiceSession } from '../../voice/session/voice-session.ts';

/** Result that the model reads for a task while the application still works on the task. */
export const HANDED_OVER = 'The application works on it. The result follows.';

const ACKNOWLEDGE =
  'The task of the caller was handed over, and its result is not there yet. Say in one short sentence, in the language of the caller, that you are looking into it. Promise nothing and ask nothing.';

/**
 * Lets the model acknowledge a delegation that it made without words, after the client's delay. One acknowledgement covers all
 * delegations that wait for one.
 */
export class Acknowledgement {
  readonly #clock: Clock;
  readonly #session: VoiceSession;
  readonly #isSpeaking: () => boolean;
  #timer: TimerHandle | undefined;
  #isDue = false;
  /** The acknowledgement that was requested of the session and is not finished. */
  #asked: AnswerRequest | undefined;

  constructor(options: {
    readonly clock: Clock;
    readonly session: VoiceSession;
    /** Returns true while a message is being spoken. */
    readonly isSpeaking: () => boolean;
  }) {
    this.#clock = options.clock;
    this.#session = options.session;
    this.#isSpeaking = options.isSpeaking;
  }

  /** True while an acknowledgement is requested and not finished. */
  get isAsked(): boolean {
    return this.#asked !== undefined;
  }

  /** Makes an acknowledgement due, `delayMs` after a delegation that the model made without words. */
  delegated(delayMs: number): void {
    if (this.#timer !== undefined || this.isAsked) return;
    if (delayMs === 0) {
      this.#isDue = true;
      return;
    }
    this.#timer = this.#clock.setTimeout(() => {
      this.#timer = undefined;
      this.#isDue = true;
      this.speak();
    }, delayMs);
  }

  /** Requests the acknowledgement when it is due. An answer in progress or waiting comes first. */
  speak(): void {
    const session = this.#session;
    if (!this.#isDue || session.isOver || session.isAnswerWaiting) return;
    const request = acknowledging(session);
    if (session.respond(request) !== undefined) return;
    this.#isDue = false;
    this.#asked = request;
  }

  /** Records that an answer is over. */
  answerDone(): void {
    this.#asked = undefined;
  }

  /** Drops an acknowledgement that is not requested yet. */
  clear(): void {
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isDue = false;
  }

  /** Cancels an acknowledgement that has not begun to be spoken, because the application speaks itself. */
  cancel(): void {
    this.clear();
    if (this.#asked !== undefined && !this.#isSpeaking()) this.#session.withdraw(this.#asked);
  }
}

function acknowledging({ config, conversation }: VoiceSession): AnswerRequest {
  const told = [config.instructions, ACKNOWLEDGE].filter((text) => text !== '');
  return {
    config: { ...config, instructions: told.join('\n\n'), toolChoice: 'none' },
    metadata: {},
    isInConversation: true,
    context: answered(conversation.items),
  };
}

/** Returns the items with an output for each call that has none. A model is not shown a call without an output. */
function answered(items: readonly ConversationItem[]): readonly ConversationItem[] {
  const known = new Set(
    items.flatMap((item) => (item.type === 'function_call_output' ? [item.callId] : [])),
  );
  const outputs = items.flatMap((item): ConversationItem[] =>
    item.type === 'function_call' && !known.has(item.callId)
      ? [{ ...item, type: 'function_call_output', output: HANDED_OVER }]
      : [],
  );
  return [...items, ...outputs];
}
