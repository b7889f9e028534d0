import { describe, expect, it } from 'vitest';
import { CommandQueue } from '../../../../../src/phone/calls/commands/command-queue.ts';
import type { LiveCommand } from '../../../../../src/phone/calls/commands/live-command.ts';

function done(command: LiveCommand): string[] {
  const steps: string[] = [];
  const begins = (step: string) => steps.push(step) > 0;
  new CommandQueue({
    actions: { isMuted: false },
    say: (text) => begins(`say ${text}`),
    cutShort: () => void steps.push('cut'),
    instruct: (text) => void steps.push(`instruct ${text}`),
    respond: () => begins('respond'),
    act: (action) => void steps.push(JSON.stringify(action)),
  }).obey(command);
  return steps;
}

describe('a command of a live call', () => {
  it.each<[string, LiveCommand, string[]]>([
    [
      'a say command speaks its text after the present one',
      { kind: 'say', text: 'Hi', interrupt: false },
      ['say Hi'],
    ],
    [
      'a say command that interrupts stops the present text',
      { kind: 'say', text: 'Hi', interrupt: true },
      ['cut', 'say Hi'],
    ],
    [
      'an inject command adds its message without an answer',
      { kind: 'inject', text: 'Hi', respond: false },
      ['instruct Hi'],
    ],
    [
      'an inject command with respond adds its message and gets an answer',
      { kind: 'inject', text: 'Hi', respond: true },
      ['instruct Hi', 'respond'],
    ],
    [
      'a transfer command becomes the transfer_call action of the agent',
      { kind: 'transfer', to: '+1415', summary: 'x' },
      ['{"name":"transfer_call","to":"+1415","summary":"x"}'],
    ],
  ])('%s', (_, command, steps) => {
    expect(done(command)).toEqual(steps);
  });
});
