import type { LiveActions } from '../actions/live-actions.ts';
import type { ActionOfCall } from '../live-call-options.ts';
import type { LiveCommand } from './live-command.ts';

/** The parts of a live call that commands use. */
export type CommandedCall = {
  readonly actions: Pick<LiveActions, 'isMuted'>;
  /** Speaks a text. False: not now, since another answer is in progress or the call is muted. */
  say(text: string): boolean;
  /** Begins an answer of the responder. False: as for `say`. */
  respond(): boolean;
  /** Stops what is being said. */
  cutShort(): void;
  /** Adds a system message to the conversation. */
  instruct(text: string): void;
  act(action: ActionOfCall): void;
};

/**
 * Carries out the developer's commands at the process that has the call. A text to say and an answer to give wait for the
 * answers before them.
 */
export class CommandQueue {
  readonly #call: CommandedCall;
  /** Answers that could not begin yet, in order. Each returns true when it has begun. */
  readonly #waiting: (() => boolean)[] = [];

  constructor(call: CommandedCall) {
    this.#call = call;
  }

  /** Carries out a command. A muted call ignores it. */
  obey(command: LiveCommand): void {
    const call = this.#call;
    if (call.actions.isMuted) return;
    switch (command.kind) {
      case 'say': {
        const { interrupt, text } = command;
        if (interrupt) {
          call.cutShort();
          this.#waiting.unshift(() => call.say(text));
        } else this.#waiting.push(() => call.say(text));
        break;
      }
      case 'inject':
        call.instruct(command.text);
        if (command.respond) this.#waiting.push(() => call.respond());
        break;
      case 'transfer': {
        const { kind: _, ...given } = command;
        call.act({ name: 'transfer_call', ...given });
      }
    }
    this.answered();
  }

  /** Begins the next answer, when an answer has ended. */
  answered(): void {
    if (this.#waiting[0]?.() === true) this.#waiting.shift();
  }
}
