import { expect, it } from 'vitest';
import { reasonOf } from '../../../../src/phone/calls/end-reason.ts';

it('each ending of a voice session maps to one end reason of its call', () => {
  expect(reasonOf('client left', false)).toBe('call_ended');
  expect(reasonOf('budget_exhausted', false)).toBe('budget_exhausted');
  expect(reasonOf('budget_exhausted', true)).toBe('reserve_exhausted');
  expect(reasonOf('server is shutting down', false)).toBe('drain');
  expect(reasonOf('idle', false)).toBe('inactivity');
  for (const refused of ['agent_suspended', 'agent_closed', 'key_revoked']) {
    expect(reasonOf(refused, false)).toBe('suspended');
  }
  expect(reasonOf('max_duration', false)).toBe('max_duration');
  expect(reasonOf('toString', false)).toBe('error');
});
