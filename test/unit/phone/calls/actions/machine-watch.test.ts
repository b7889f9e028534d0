import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../../../src/kernel/log.ts';
import { MachineWatch } from '../../../../../src/phone/calls/actions/machine-watch.ts';
import type { OnMachine } from '../../../../../src/phone/calls/call.ts';
import type { AnsweredBy } from '../../../../../src/phone/carriers/carrier.ts';
import { PHONE_LIMITS } from '../../../../../src/phone/limits.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';
import { settleAll } from '../../../../support/voice-world.ts';

function watch(onMachine: OnMachine) {
  const clock = new ManualClock();
  const done: string[] = [];
  const learned: AnsweredBy[] = [];
  const row: { answeredBy: AnsweredBy | null; reads: number } = { answeredBy: null, reads: 0 };
  const machine = new MachineWatch({
    clock,
    log: silentLog,
    onMachine,
    message: 'Call me.',
    actions: {
      drop: (reason) => done.push(`drop ${reason}`),
      leave: (text, reason) => done.push(`leave ${text} ${reason}`),
      mute: () => done.push('mute'),
    },
    async read() {
      row.reads++;
      return row.answeredBy;
    },
    learned: (answeredBy) => learned.push(answeredBy),
  });
  async function passes(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += PHONE_LIMITS.machine.pollMs) {
      clock.advance(PHONE_LIMITS.machine.pollMs);
      await settleAll();
    }
  }
  const hear = (...words: AnsweredBy[]) => {
    for (const answeredBy of words) machine.hear(answeredBy);
  };
  return { clock, done, hear, learned, machine, passes, row };
}

const DROP = 'drop voicemail_reached';
const LEAVE = 'leave Call me. voicemail_reached';

describe('a carrier that says who has answered', () => {
  it.each<[OnMachine, AnsweredBy[], string[]]>([
    ['hangup', ['machine_start'], [DROP]],
    ['hangup', ['machine_end'], [DROP]],
    ['hangup', ['machine_start', 'machine_start', 'machine_end'], [DROP]],
    ['hangup', ['fax'], [DROP]],
    ['hangup', ['human'], []],
    ['hangup', ['unknown'], []],
    ['hangup', ['unknown', 'machine_start'], []],
    ['leave_message', ['machine_start'], ['mute']],
    ['leave_message', ['machine_start', 'machine_end'], ['mute', LEAVE]],
    ['leave_message', ['machine_start', 'unknown', 'machine_end'], ['mute', LEAVE]],
    ['leave_message', ['machine_end', 'machine_end', 'machine_start'], [LEAVE]],
    ['leave_message', ['fax'], [DROP]],
    ['leave_message', ['human', 'machine_end'], []],
    ['leave_message', ['unknown', 'machine_end'], []],
    ['continue', ['machine_start', 'machine_end'], []],
    ['continue', ['fax'], []],
  ])('the machine policy %s after the detections %j does %j', (onMachine, words, expected) => {
    const { done, hear, learned } = watch(onMachine);
    hear(...words);
    expect(done).toEqual(expected);
    expect(learned[0]).toBe(words[0]);
  });

  it('machine detection that reached another process is read from the row within a second', async () => {
    const { done, passes, row } = watch('hangup');
    await passes(3_000);
    row.answeredBy = 'machine_start';
    await passes(PHONE_LIMITS.machine.pollMs);
    expect(done).toEqual([DROP]);
    const { reads } = row;
    await passes(5_000);
    expect(row.reads).toBe(reads);
  });

  it('machine detection that never comes is polled for a minute, and no longer', async () => {
    const { done, hear, passes, row } = watch('hangup');
    await passes(PHONE_LIMITS.machine.timeoutMs + 20_000);
    expect(row.reads).toBe(PHONE_LIMITS.machine.timeoutMs / PHONE_LIMITS.machine.pollMs);
    hear('machine_start');
    expect(done).toEqual([]);
  });

  it('a machine whose end of greeting is never reported still gets the message after the time limit', async () => {
    const { done, hear, passes } = watch('leave_message');
    hear('machine_start');
    await passes(PHONE_LIMITS.machine.greetingMs);
    expect(done).toEqual(['mute', LEAVE]);
  });

  it('machine detection after the end of the call changes nothing', async () => {
    const { done, hear, machine, passes, row } = watch('leave_message');
    hear('machine_start');
    machine.close();
    await passes(PHONE_LIMITS.machine.timeoutMs);
    expect(done).toEqual(['mute']);
    expect(row.reads).toBe(0);
  });
});
