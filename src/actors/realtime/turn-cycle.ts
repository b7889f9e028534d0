import type { RealtimeSessionEvent } from '../../../machines/realtime-session.ts';
import { BROKEN, LEDGER_AWAY } from '../voice-endings.ts';
import type { VoiceLife } from '../voice-life.ts';
import type { Answering, FinishedAnswer, ResponseRequest } from './answering.ts';
import type { TurnBilling } from './bill-turn.ts';
import type { Listening } from './listening.ts';
import type { Settings } from './settings.ts';

export type TurnCycleDeps = {
  readonly answering: Answering;
  readonly listening: Listening;
  readonly billing: TurnBilling;
  readonly settings: Settings;
  readonly life: VoiceLife;
  /** The session ends or is over: no turn starts any more. */
  readonly isEnding: () => boolean;
  readonly tell: (event: RealtimeSessionEvent) => void;
};

/** The turns of a session, one after another: asked for, answered, billed. Its machine says when. */
export class TurnCycle {
  readonly #deps: TurnCycleDeps;
  #request: ResponseRequest | undefined;
  /** The answer that is not billed yet. */
  #finished: FinishedAnswer | undefined;

  constructor(deps: TurnCycleDeps) {
    this.#deps = deps;
  }

  /** A response is wanted: with what the client asks of it, or as the session says. */
  request(request?: ResponseRequest): void {
    if (request !== undefined) this.#request = request;
    this.#deps.tell({ type: 'response.requested' });
  }

  start(): void {
    const { answering, isEnding, life, settings, tell } = this.#deps;
    const request = this.#request ?? { config: settings.current, metadata: {} };
    this.#request = undefined;
    if (isEnding()) {
      tell({ type: 'turn.finished' });
      return;
    }
    try {
      answering.start(request);
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
    this.#deps.tell({ type: 'turn.finished' });
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
    if (answer === undefined && heardMs === 0) return;
    billing
      .bill(answer, heardMs, false)
      .catch((error: unknown) => life.logError(error, 'the rest of a session was not journaled'));
  }
}
