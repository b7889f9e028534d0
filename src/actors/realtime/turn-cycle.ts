import type { RealtimeSessionEvent } from '../../../machines/realtime-session.ts';
import { BROKEN, LEDGER_AWAY } from '../voice-endings.ts';
import type { VoiceLife } from '../voice-life.ts';
import type { Answering, FinishedAnswer } from './answering.ts';
import type { TurnBilling } from './bill-turn.ts';
import type { EventProblem } from './client-event.ts';
import type { Listening } from './listening.ts';
import type { ResponseRequest } from './response-request.ts';
import type { Settings } from './settings.ts';

/** Responses that may wait for the one in progress, so that a client's wishes hold a bounded memory. */
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
  /** The answer that is not billed yet. */
  #finished: FinishedAnswer | undefined;

  constructor(deps: TurnCycleDeps) {
    this.#deps = deps;
  }

  /** What was said is to be answered. An answer that has not begun will know of it as well. */
  answerCaller(): void {
    if (this.#waiting.some(belongs)) return;
    this.#waiting.push(undefined);
    this.#deps.tell({ type: 'response.requested' });
  }

  /**
   * A response is wanted. In the conversation there is one at a time; those on the side wait for their
   * turn. It answers to what the caller said, too, if that was not begun.
   */
  request(request: ResponseRequest): EventProblem | undefined {
    const { answering, settings, tell } = this.#deps;
    if (settings.current.type === 'transcription') return ONLY_TRANSCRIBES;
    if (request.isInConversation) {
      if (answering.isConversing || this.#waiting.some((other) => other?.isInConversation)) {
        return alreadyActive(answering.activeId);
      }
      this.#waiting = this.#waiting.filter((other) => other !== undefined);
    }
    if (this.#waiting.length >= MOST_WAITING) return TOO_MANY_WAIT;
    this.#waiting.push(request);
    tell({ type: 'response.requested' });
    return undefined;
  }

  start(): void {
    const { answering, isEnding, life, listening, settings, tell } = this.#deps;
    const request = this.#waiting.shift() ?? {
      config: settings.current,
      metadata: {},
      isInConversation: true,
    };
    if (isEnding()) {
      tell({ type: 'turn.finished' });
      return;
    }
    try {
      listening.stopAwaiting();
      answering.start(request);
      if (this.#waiting.length > 0) tell({ type: 'response.requested' });
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
    this.#finished = undefined;
    billing
      .bill(answer, listening.takeUnbilledMs(), !isEnding)
      .then(tell)
      .catch((error: unknown) => {
        life.logError(error, 'ledger is away from a realtime session');
        tell({ type: 'budget.spent', ending: LEDGER_AWAY });
      });
  }

  /** What was bought and not yet billed goes into the journal; the settlement waits for it. */
  billRest(): void {
    const { billing, life, listening } = this.#deps;
    const answer = this.#finished;
    const heardMs = listening.takeUnbilledMs();
    this.#finished = undefined;
    billing
      .bill(answer, heardMs, false)
      .catch((error: unknown) => life.logError(error, 'the rest of a session was not journaled'));
  }
}

const belongs = (request: ResponseRequest | undefined): boolean =>
  request === undefined || request.isInConversation;

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
