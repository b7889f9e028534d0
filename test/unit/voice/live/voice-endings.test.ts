import { expect, it } from 'vitest';
import {
  audioRefused,
  LEDGER_AWAY,
  leavingOut,
  turnRefused,
} from '../../../../src/voice/live/voice-endings.ts';

const SHORT = { reason: 'insufficient_balance', availableRaw: 1n, requiredRaw: 2n } as const;

it('a voice session that the ledger ends gives the reason, and says what to do about it', () => {
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

it('the ending of a voice session reports the dropped audio after any other error, or alone', () => {
  expect(leavingOut(LEDGER_AWAY, 0)).toBe(LEDGER_AWAY);
  expect(leavingOut(LEDGER_AWAY, 1.5)).toEqual({
    ...LEDGER_AWAY,
    error: {
      code: 'ledger_unavailable',
      message:
        'The balance cannot be reached. The last 1.5 s that came were not heard and are not charged.',
      unheardSeconds: 1.5,
    },
  });
  expect(leavingOut({ code: 1001, reason: 'away' }, 2)).toMatchObject({
    code: 1001,
    reason: 'away',
    error: { code: 'audio_dropped', unheardSeconds: 2 },
  });
});
