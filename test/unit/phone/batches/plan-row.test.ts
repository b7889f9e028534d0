import { describe, expect, it } from 'vitest';
import { planRow } from '../../../../src/phone/batches/plan-row.ts';

const row = {
  seq: 4,
  isOverdue: false,
  callId: 'CA1',
  isOver: true,
  status: 'pending',
  endReason: 'dial_busy',
  calls: 1,
} as const;
const unwritten = { ...row, callId: null, isOver: null, status: null, endReason: null } as const;
const terms = { retries: { busy: { count: 1, waitSeconds: 30 } }, isStopped: false };

describe('a row of a batch that is called', () => {
  it('a batch row stays unchanged while its call is in progress or is being placed', () => {
    expect(planRow(terms, { ...row, isOver: false })).toBeUndefined();
    expect(planRow(terms, unwritten)).toBeUndefined();
  });

  it('a batch row is called again when its call was not written in time', () => {
    const lost = { ...unwritten, isOverdue: true };
    expect(planRow(terms, lost)).toMatchObject({
      seq: 4,
      state: 'waiting',
      inMs: 0,
      outcome: null,
    });
    expect(planRow({ ...terms, isStopped: true }, lost)).toMatchObject({
      state: 'done',
      outcome: 'canceled',
    });
  });

  it('a batch row waits for its retry, and is done after the last one', () => {
    expect(planRow(terms, row)).toEqual({
      seq: 4,
      state: 'waiting',
      callId: 'CA1',
      outcome: 'busy',
      reason: 'dial_busy',
      inMs: 30_000,
    });
    expect(planRow(terms, { ...row, calls: 2 })).toMatchObject({ state: 'done', outcome: 'busy' });
  });

  it('a batch row is not called again when its batch is stopped', () => {
    expect(planRow({ ...terms, isStopped: true }, row)).toMatchObject({ state: 'done' });
  });

  it('a batch row is called again when its call never went to the carrier', () => {
    const never = { ...row, endReason: 'dial_canceled' } as const;
    expect(planRow(terms, never)).toMatchObject({ state: 'waiting', callId: null, inMs: 0 });
  });
});
