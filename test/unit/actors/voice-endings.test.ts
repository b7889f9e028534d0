import { expect, it } from 'vitest';
import { audioRefused, turnRefused } from '../../../src/actors/voice-endings.ts';

const SHORT = { reason: 'insufficient_balance', availableRaw: 1n, requiredRaw: 2n } as const;

it('says what to do about a session that the ledger ends, and not of every reason that money is short', () => {
  expect(audioRefused(SHORT).error).toMatchObject({
    code: 'insufficient_balance',
    message: expect.stringContaining('paid for'),
  });
  expect(turnRefused(SHORT).error).toMatchObject({
    code: 'budget_exhausted',
    message: expect.stringContaining('balance'),
  });
  for (const refused of [audioRefused, turnRefused]) {
    expect(refused({ reason: 'delegation_expired' })).toMatchObject({
      code: 1008,
      reason: 'delegation_expired',
      error: {
        code: 'delegation_expired',
        message: expect.stringContaining('ask its operator to renew'),
      },
    });
    expect(refused({ reason: 'agent_suspended' }).error?.message).toContain('suspended');
  }
});
