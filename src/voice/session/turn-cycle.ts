import type { RealtimeSessionEvent } from '../../../machines/realtime-session.ts';
import type { TurnBilling } from '../billing/bill-turn.ts';
import type { EventProblem } from '../protocols/openai-realtime/client-event.ts';
import {
  type ResponseRequest,
  readsConversation,
} from '../protocols/openai-realtime/response-request.ts';
import type { Answering, FinishedAnswer } from './answering.ts';
import type { Listening } from './listening.ts';
import type { Settings } from './settings.ts';
import { BROKEN, LEDGER_AWAY } from './voice-endings.ts';
import type { VoiceLife } from './voice-life.ts';

/** Responses that may wait for the one in progress, so that a client's requests hold a bounded memory. */
const MOST_WAITING = 8;

export type TurnCycleDeps = {
  readonly answering: Answering;
  readonly listening: Listening;
  readonly billing: TurnBilling;
  readonly settings: Settings;
  readonly life: VoiceLife;
  /** The session is over or was ended in the middle: no turn starts any more. */
  readonly isEnding: () => boolean;
  readonly tell: (event: RealtimeSessionEvent) => void;
};

/** The turns of a session, one after another: asked for, answered, billed. Its machine says when. */
export class TurnCycle {
  readonly #deps: TurnCycleDeps;
  /** Asked for and not begun, in order. Undefined: an answer to the caller, as the session then says. */
  #waiting: (ResponseRequest | undefined)[] = [];
  /** The caller said something that no response that has begun answers. */
  #isOwed = false;
  /** The response in progress does. */
  #isToCaller = false;
  /** The answer that is not billed yet. */
  #finished: FinishedAnswer | undefined;

  constructor(deps: TurnCycleDeps) {
    this.#deps = deps;
  }

  /** What the caller said is in the conversation, or was forgotten. What `wantsAnswer` is answered once. */
  heard(wantsAnswer: boolean): void {
    this.#isOwed ||= wantsAnswer;
    if (this.#isOwed) this.#answerCaller();
    else this.#deps.tell({ type: 'speech.heard' });
  }

  /** The caller speaks: what is being said to him is broken off, and what was about to be waits for his words. */
  bargeIn(): void {
    const { answering } = this.#deps;
    this.#waiting = this.#waiting.filter((request) => request && !request.isPrompt);
    this.#isOwed ||= this.#isToCaller && answering.isUnheard;
    answering.interrupt('turn_detected');
  }

  /** Cancels the response of the conversation that waits. In its turn its client hears of it as of one that began. */
  cancelWaiting(): boolean {
    const at = this.#waiting.findIndex(belongs);
    if (at === -1) return false;
    const request = this.#waiting[at];
    this.#waiting[at] = { ...(request ?? this.#answerAsSet()), isCancelled: true };
    if (answersCaller(request)) this.#isOwed = false;
    return true;
  }

  /**
   * A response is wanted. In the conversation there is one at a time; those on the side wait for their
   * turn. It answers to what the caller said, too, if that was not begun.
   */
  request(request: ResponseRequest): EventProblem | undefined {
    const { answering, settings, tell } = this.#deps;
    if (settings.current.type === 'transcription') return ONLY_TRANSCRIBES;
    if (request.isInConversation) {
      const isWaiting = this.#waiting.some((other) => other !== undefined && belongs(other));
      if (answering.isConversing || isWaiting) {
        return alreadyActive(answering.activeId);
      }
    }
    const isForCaller = readsConversation(request);
    const waiting = this.#waiting.filter((other) => other !== undefined || !isForCaller);
    if (waiting.length >= MOST_WAITING) return TOO_MANY_WAIT;
    this.#waiting = [...waiting, request];
    tell({ type: 'response.requested' });
    return undefined;
  }

  start(): void {
    const { answering, isEnding, life, listening, tell } = this.#deps;
    // What was asked for may wait for the caller since.
    if (isEnding() || this.#waiting.length === 0) {
      tell({ type: 'turn.finished' });
      return;
    }
    const request = this.#waiting.shift();
    try {
      if (belongs(request)) listening.stopAwaiting();
      this.#isToCaller = this.#isOwed && answersCaller(request);
      if (this.#isToCaller) this.#isOwed = false;
      if (request?.isCancelled) answering.skip(request);
      else answering.start(request ?? this.#answerAsSet());
      if (this.#waiting.length > 0) tell({ type: 'response.requested' });
      if (request?.isCancelled) tell({ type: 'turn.finished' });
    } catch (error) {
      life.logError(error, 'a turn could not be started');
      tell({ type: 'session.failed', ending: BROKEN });
      tell({ type: 'turn.finished' });
    }
  }

  stop(): void {
    this.#deps.answering.stop('turn_stopped', 'The server ended this response.');
  }

  finished(answer: FinishedAnswer): void {
    this.#finished = answer;
    const { listening, tell } = this.#deps;
    if (answer.request.isInConversation) listening.awaitCaller(answer.outcome.unplayedMs);
    tell({ type: 'turn.finished' });
  }

  /** Bills the answer and what was heard, and holds the next turn unless the session `isEnding`. */
  bill(isEnding: boolean): void {
    const { billing, life, listening, tell } = this.#deps;
    const answer = this.#finished;
    const heardMs = listening.unpaid.take();
    this.#finished = undefined;
    billing
      .bill(answer, heardMs, !isEnding)
      .then((told) => {
        listening.unpaid.billed(heardMs);
        tell(told);
      })
      .catch((error: unknown) => {
        life.logError(error, 'ledger is away from a realtime session');
        tell({ type: 'budget.spent', ending: LEDGER_AWAY });
      });
  }

  /** What was bought and not yet billed goes into the journal; the settlement waits for it. */
  billRest(): void {
    const { billing, life, listening } = this.#deps;
    const answer = this.#finished;
    const heardMs = listening.unpaid.take();
    this.#finished = undefined;
    billing
      .bill(answer, heardMs, false)
      .catch((error: unknown) => life.logError(error, 'the rest of a session was not journaled'));
  }

  /** Once he has finished, where he may interrupt, and by an answer that knows all that he said. */
  #answerCaller(): void {
    const { answering, listening, settings, tell } = this.#deps;
    if (listening.isSpeaking && settings.current.turnDetection?.interruptResponse) return;
    if (answering.isUnread) {
      this.#isToCaller = true;
      this.#isOwed = false;
      return;
    }
    if (this.#waiting.some(answersCaller)) return;
    this.#waiting.push(undefined);
    tell({ type: 'response.requested' });
  }

  #answerAsSet(): ResponseRequest {
    return { config: this.#deps.settings.current, metadata: {}, isInConversation: true };
  }
}

const belongs = (request: ResponseRequest | undefined): boolean =>
  request === undefined || (request.isInConversation && !request.isCancelled);

const answersCaller = (request: ResponseRequest | undefined): boolean =>
  request === undefined || readsConversation(request);

const alreadyActive = (activeId: string | undefined): EventProblem => ({
  code: 'conversation_already_has_active_response',
  message:
    activeId === undefined
      ? 'A response of this conversation is about to begin.'
      : `The response ${activeId} is still in progress.`,
});

const TOO_MANY_WAIT: EventProblem = {
  code: 'too_many_responses',
  message: `At most ${MOST_WAITING} responses may wait for the one in progress.`,
};

const ONLY_TRANSCRIBES: EventProblem = {
  code: 'invalid_value',
  message: 'This is a transcription session: it hears and does not answer.',
  param: 'type',
};
