import type { SessionEndReason } from '../../../machines/call.ts';
import type { TurnCause } from '../../../machines/voice-turn.ts';
import type { Log } from '../../kernel/log.ts';
import { readCallAction } from '../voice/call-actions.ts';
import type { ActionItem } from '../voice/call-client.ts';
import type { ActionOfCall } from './live-call-options.ts';

const NOT_ANSWERED = 'Sorry, I did not get that. Could you say it again?';
const CUT_OFF = 'Sorry, I was cut off. Could you say that again?';
/** Ending of a call whose synthesizer has failed for good. */
const SYNTHESIZER_LOST = 'synthesizer_lost' satisfies SessionEndReason;

type AfterAnswerDeps = {
  readonly log: Log;
  /** Carries out an action that an answer requests. */
  readonly act: (action: ActionOfCall) => void;
  /** Runs a function that is no action of the call, or gives the model the error in its function call. */
  readonly callTool: (item: ActionItem) => void;
  readonly say: (text: string) => void;
  readonly end: (reason: string) => void;
  /** Stores the handoff data that the responder leaves for the developer, and ends the call. */
  readonly handOff: (data: string) => void;
  /** Runs `done` once the peer has heard everything that was said. */
  readonly afterSpoken: (done: () => void) => void;
};

/** Handles the actions and the end of answers. A goodbye is heard whole; the second failed answer in a row ends the call. */
export class AfterAnswer {
  readonly #deps: AfterAnswerDeps;
  /** Number of failed answers in a row. */
  #failures = 0;
  /** Set when the answer in progress is the last: the call ends after it, with this handoff data if there is any. */
  #goodbye: { readonly handoffData?: string | undefined } | undefined;

  constructor(deps: AfterAnswerDeps) {
    this.#deps = deps;
  }

  /** Handles a function call of the answer: an action of the call, or a tool. */
  asked(item: ActionItem): void {
    const { arguments: argumentsJson, name, problem } = item;
    const { act, callTool, log } = this.#deps;
    if (problem !== undefined) {
      callTool(item);
      return;
    }
    const read = readCallAction({ name, argumentsJson });
    if (read === undefined) callTool(item);
    else if (read.kind === 'malformed') {
      log.warn({ action: read.name }, read.message);
      callTool({ ...item, problem: read.message });
    } else if (read.action.name === 'end_call') this.#goodbye = read.action;
    else act(read.action);
  }

  answered(cause: TurnCause | undefined): void {
    if (cause?.kind === 'failed') {
      this.#failed(cause);
      return;
    }
    this.#failures = 0;
    const goodbye = this.#goodbye;
    this.#goodbye = undefined;
    // A caller who interrupts the goodbye continues the call.
    if (goodbye === undefined || cause?.kind === 'cancelled') return;
    this.#deps.afterSpoken(() => {
      if (goodbye.handoffData === undefined) this.#deps.end('agent_ended');
      else this.#deps.handOff(goodbye.handoffData);
    });
  }

  /** A responder that refuses ends the call; a model or a voice that fails may be asked once more. */
  #failed({ code, stage }: Extract<TurnCause, { kind: 'failed' }>): void {
    if (code === 'llm_refused') {
      this.#deps.end('llm_refused');
      return;
    }
    this.#failures++;
    if (this.#failures > 1) this.#deps.end(stage === 'voice' ? SYNTHESIZER_LOST : 'error');
    else this.#deps.say(stage === 'voice' ? CUT_OFF : NOT_ANSWERED);
  }
}
