import type { VoiceSessionEvent } from '../../../machines/voice-session.ts';
import type { TurnBilling } from '../billing/bill-turn.ts';
import { BROKEN, LEDGER_AWAY } from '../live/voice-endings.ts';
import type { VoiceLife } from '../live/voice-life.ts';
import { type AnswerRequest, readsConversation, type SessionProblem } from './answer-request.ts';
import type { Answering, FinishedAnswer } from './answering.ts';
import type { Listening } from './listening.ts';
import type { SessionConfig } from './session-config.ts';

/** Upper bound of the responses that wait for the response in progress. */
const MOST_WAITING = 8;

export type TurnCycleDeps = {
  readonly answering: Answering;
  readonly listening: Listening;
  readonly billing: TurnBilling;
  readonly config: () => SessionConfig;
  readonly life: VoiceLife;
  /** Returns true when the session is over or is being ended. Then no turn starts any more. */
  readonly isEnding: () => boolean;
  readonly send: (event: VoiceSessionEvent) => void;
};

/**
 * The turns of a session, one after another: each is requested, answered and billed. The session's state machine decides when.
 */
export class TurnCycle {
  readonly #deps: TurnCycleDeps;
  /**
   * Requests that have not begun, in order. Undefined is an answer to the caller, with the settings at the time of the answer.
   */
  #waiting: (AnswerRequest | undefined)[] = [];
  /** True when the caller has said words that no response answers yet. */
  #isOwed = false;
  /** True when the response in progress answers the caller. */
  #isToCaller = false;
  /** The request of the response in progress. */
  #active: AnswerRequest | undefined;
  /** The finished answer that is not billed yet. */
  #finished: FinishedAnswer | undefined;

  constructor(deps: TurnCycleDeps) {
    this.#deps = deps;
  }

  /**
   * Handles the end of an utterance, which is in the conversation or was dropped. With `wantsAnswer`, the caller gets one
   * response.
   */
  heard(wantsAnswer: boolean): void {
    this.#isOwed ||= wantsAnswer;
    if (this.#isOwed) this.#answerCaller();
    else this.#deps.send({ type: 'speech.heard' });
  }

  /** Bills the caller's words now. The next `heard` answers them. */
  owe(): void {
    this.#isOwed = true;
    this.#deps.send({ type: 'speech.heard' });
  }

  /** Handles a barge-in: stops the answer in progress, and delays an answer that was about to start. */
  bargeIn(): void {
    const { answering } = this.#deps;
    this.#waiting = this.#waiting.filter((request) => request && !request.isPrompt);
    this.#isOwed ||= this.#isToCaller && answering.isUnheard;
    answering.interrupt('turn_detected');
  }

  /**
   * Cancels the conversation's waiting response. At its turn, the client receives the response as created and cancelled.
   * Returns false when none waits.
   */
  cancelWaiting(): boolean {
    const at = this.#waiting.findIndex(belongs);
    if (at === -1) return false;
    const request = this.#waiting[at];
    this.#waiting[at] = { ...(request ?? this.#answerAsSet()), isCancelled: true };
    if (answersCaller(request)) this.#isOwed = false;
    return true;
  }

  /** True while a response of the conversation waits to begin. */
  get isWaiting(): boolean {
    return this.#waiting.some(belongs);
  }

  /** Cancels the response to this request and no other, whether it waits or is in progress. */
  withdraw(request: AnswerRequest): void {
    const at = this.#waiting.indexOf(request);
    if (at !== -1) this.#waiting[at] = { ...request, isCancelled: true };
    else if (this.#active === request) this.#deps.answering.interrupt('client_cancelled');
  }

  /**
   * Queues a response: the conversation has one at a time, and out-of-band responses wait for their turn. A response that reads
   * the conversation replaces an automatic answer to the caller that has not begun.
   */
  request(request: AnswerRequest): SessionProblem | undefined {
    const { answering, send } = this.#deps;
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
    send({ type: 'response.requested' });
    return undefined;
  }

  /** Requests another response of the model after the caller has said nothing to the last answer. */
  promptCaller(): void {
    this.request({ ...this.#answerAsSet(), isPrompt: true });
  }

  start(): void {
    const { answering, isEnding, life, listening, send } = this.#deps;
    // A barge-in may have withdrawn the request.
    if (isEnding() || this.#waiting.length === 0) {
      send({ type: 'turn.finished' });
      return;
    }
    const request = this.#waiting.shift();
    try {
      if (belongs(request)) listening.stopAwaiting();
      this.#isToCaller = this.#isOwed && answersCaller(request);
      if (this.#isToCaller) this.#isOwed = false;
      if (request?.isCancelled) answering.skip(request);
      else {
        this.#active = request ?? this.#answerAsSet();
        answering.start(this.#active);
      }
      if (this.#waiting.length > 0) send({ type: 'response.requested' });
      if (request?.isCancelled) send({ type: 'turn.finished' });
    } catch (error) {
      life.logError(error, 'a turn could not be started');
      send({ type: 'session.failed', ending: BROKEN });
      send({ type: 'turn.finished' });
    }
  }

  stop(): void {
    this.#deps.answering.stop('turn_stopped', 'The server ended this response.');
  }

  finished(finished: FinishedAnswer): void {
    this.#finished = finished;
    this.#active = undefined;
    const { listening, send } = this.#deps;
    const { outcome, request } = finished;
    if (request.isInConversation) listening.awaitCaller(outcome.unplayedMs);
    send({ type: 'turn.finished' });
  }

  /** Bills the answer and the audio heard, and holds the next turn unless the session `isEnding`. */
  bill(isEnding: boolean): void {
    const { billing, life, listening, send } = this.#deps;
    const finished = this.#finished;
    const heardMs = listening.unpaid.take();
    this.#finished = undefined;
    billing
      .bill(finished, heardMs, !isEnding)
      .then((event) => {
        listening.unpaid.billed(heardMs);
        send(event);
      })
      .catch((error: unknown) => {
        life.logError(error, 'ledger is away from a realtime session');
        send({ type: 'budget.spent', ending: LEDGER_AWAY });
      });
  }

  /** Journals the audio heard and spoken up to now, in the middle of a turn. */
  journal(): void {
    const { answering, billing, life, listening, send } = this.#deps;
    const heardMs = listening.unpaid.take();
    billing
      .journal({ heardMs, spokenChars: answering.takeSpokenChars() })
      .then((verdict) => {
        listening.unpaid.billed(heardMs);
        if (verdict === 'lost') send({ type: 'claim.lost' });
      })
      .catch((error: unknown) => {
        life.logError(error, 'ledger is away from a turn in progress');
        send({ type: 'session.failed', ending: LEDGER_AWAY });
      });
  }

  /** Writes purchases that are not billed yet into the journal. The settlement waits for this write. */
  billRest(): void {
    const { billing, life, listening } = this.#deps;
    const finished = this.#finished;
    const heardMs = listening.unpaid.take();
    this.#finished = undefined;
    billing
      .bill(finished, heardMs, false)
      .catch((error: unknown) => life.logError(error, 'the rest of a session was not journaled'));
  }

  /**
   * Requests an answer to the caller, unless a waiting response will include the words or a caller who may interrupt still
   * speaks.
   */
  #answerCaller(): void {
    const { answering, config, listening, send } = this.#deps;
    if (listening.isSpeaking && config().turnDetection?.interruptResponse) return;
    if (answering.isUnread) {
      this.#isToCaller = true;
      this.#isOwed = false;
      return;
    }
    if (this.#waiting.some(answersCaller)) return;
    this.#waiting.push(undefined);
    send({ type: 'response.requested' });
  }

  #answerAsSet(): AnswerRequest {
    return { config: this.#deps.config(), metadata: {}, isInConversation: true };
  }
}

const belongs = (request: AnswerRequest | undefined): boolean =>
  request === undefined || (request.isInConversation && !request.isCancelled);

const answersCaller = (request: AnswerRequest | undefined): boolean =>
  request === undefined || readsConversation(request);

const alreadyActive = (activeId: string | undefined): SessionProblem => ({
  code: 'conversation_already_has_active_response',
  message:
    activeId === undefined
      ? 'A response of this conversation is about to begin.'
      : `The response ${activeId} is still in progress.`,
});

const TOO_MANY_WAIT: SessionProblem = {
  code: 'too_many_responses',
  message: `At most ${MOST_WAITING} responses may wait for the one in progress.`,
};
