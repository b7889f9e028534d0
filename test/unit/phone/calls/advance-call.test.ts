import { describe, expect, it } from 'vitest';
import { advanceCall } from '../../../../src/phone/calls/advance-call.ts';

const PENDING = { status: 'pending', terminal: false, endReason: null, startedAt: null } as const;
const LIVE = { ...PENDING, status: 'in_progress', startedAt: new Date(0) } as const;

describe('the row of a call', () => {
  it('the row of a call that was never answered stays pending to its end', () => {
    expect(advanceCall(PENDING, { type: 'carrier.ended', status: 'no-answer' })).toEqual({
      status: 'pending',
      terminal: true,
      endReason: 'dial_no_answer',
    });
  });

  it('the row of a call is in progress from the first audio on, and completed with its conversation', () => {
    expect(advanceCall(PENDING, { type: 'media.opened' })).toEqual({
      status: 'in_progress',
      terminal: false,
      endReason: null,
    });
    expect(advanceCall(LIVE, { type: 'session.ended', reason: 'max_duration' })).toEqual({
      status: 'completed',
      terminal: true,
      endReason: 'max_duration',
    });
  });

  it('the row of a call that ended without a start is pending, and one with a start is left to its conversation', () => {
    const ending = { status: 'ending', terminal: false, endReason: 'agent_ended' } as const;
    const over = { type: 'carrier.ended', status: 'completed' } as const;
    expect(advanceCall({ ...ending, startedAt: null }, over)).toEqual({
      status: 'pending',
      terminal: true,
      endReason: 'agent_ended',
    });
    expect(advanceCall({ ...ending, startedAt: new Date(0) }, over)).toBeUndefined();
  });

  it('the row of a call does not change for events that are late, duplicate or after the end', () => {
    const over = { ...LIVE, status: 'completed', terminal: true, endReason: 'call_ended' } as const;
    const unanswered = { ...PENDING, terminal: true, endReason: 'dial_busy' } as const;
    expect([
      advanceCall(PENDING, { type: 'call.rang' }),
      advanceCall(LIVE, { type: 'call.rang' }),
      advanceCall(LIVE, { type: 'media.opened' }),
      advanceCall(over, { type: 'call.rang' }),
      advanceCall(over, { type: 'session.ended', reason: 'error' }),
      advanceCall(unanswered, { type: 'media.opened' }),
      advanceCall(unanswered, { type: 'hangup.requested' }),
    ]).toEqual(Array(7).fill(undefined));
  });
});
