import type { CallAction } from '../../voice/call-actions.ts';
import type { ActionOfCall } from '../live-call-options.ts';

/** A developer's command to a live call. */
export type LiveCommand =
  /** Says a text as it is, after what is said now, or in its place. */
  | { readonly kind: 'say'; readonly text: string; readonly interrupt: boolean }
  /** Adds a system message, and lets the model answer it. */
  | { readonly kind: 'inject'; readonly text: string; readonly respond: boolean }
  | ({ readonly kind: 'transfer' } & Omit<Extract<CallAction, { name: 'transfer_call' }>, 'name'>);

/** The parts of a live call that commands use. */
export type CommandedCall = {
  say(text: string): void;
  /** Stops what is being said. */
  cutShort(): void;
  /** Adds a system message to the conversation. */
  instruct(text: string): void;
  respond(): void;
  act(action: ActionOfCall): void;
};

/** Carries a command out at the process that has the call. */
export function obey(call: CommandedCall, command: LiveCommand): void {
  switch (command.kind) {
    case 'say':
      if (command.interrupt) call.cutShort();
      call.say(command.text);
      return;
    case 'inject':
      call.instruct(command.text);
      if (command.respond) call.respond();
      return;
    case 'transfer': {
      const { kind: _, ...given } = command;
      call.act({ name: 'transfer_call', ...given });
    }
  }
}
