import { expect, it } from 'vitest';
import { systemClock } from '../../../../../src/kernel/clock.ts';
import { silentLog } from '../../../../../src/kernel/log.ts';
import { handOff } from '../../../../../src/phone/calls/actions/hand-off.ts';
import type { CallDeps } from '../../../../../src/phone/calls/call-deps.ts';

it('a handoff keeps its data for the end of the call also when the database fails', async () => {
  const sql = (() => Promise.reject(new Error('away'))) as unknown as CallDeps['sql'];
  const kept: string[] = [];
  const money = { handedOff: (data: string) => kept.push(data) };
  await handOff({ clock: systemClock, log: silentLog, sql }, { callId: 'CA1' }, money, 'to sales');
  expect(kept).toEqual(['to sales']);
});
