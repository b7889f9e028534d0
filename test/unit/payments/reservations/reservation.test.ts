import { describe, expect, it } from 'vitest';
import type { ReservationState } from '../../../../machines/reservation.ts';
import { isLive, reservationMachine } from '../../../../machines/reservation.ts';
import {
  chargeOf,
  holdOf,
  reservationRecord,
} from '../../../../src/payments/reservations/reservation.ts';
import { aReservation } from '../../../support/a-reservation.ts';

const STATES = Object.keys(reservationMachine.states) as ReservationState[];

describe('a reservation', () => {
  it('a reservation’s record has the specification’s state, and is terminal exactly when the payment has ended', () => {
    const known = ['reserved', 'sent', 'pending_settlement', 'settled', 'expired_unsettled'];
    expect(STATES).toHaveLength(7);
    for (const state of STATES) {
      const record = reservationRecord(aReservation({ state }));
      expect([...known, 'payment_rejected']).toContain(record.state);
      expect(record.terminal, state).toBe(!isLive(state));
    }
    expect(reservationRecord(aReservation({ state: 'released' })).state).toBe('expired_unsettled');
  });

  it('a reservation’s record has amounts in digits, validBefore in seconds and ISO timestamps', () => {
    const row = aReservation({
      state: 'settled',
      valueRaw: 10_000n,
      txHash: '0xab',
      validBefore: 1_790_000_090,
      reservedMs: 1_790_000_000_123,
      sentMs: 1_790_000_000_200,
      decidedMs: 1_790_000_015_000,
    });
    expect(reservationRecord(row)).toEqual({
      nonce: row.nonce,
      state: 'settled',
      terminal: true,
      paymentAmountRaw: '10000',
      paymentRecipient: row.payee,
      txHash: '0xab',
      validBefore: 1_790_000_090,
      reservedAt: '2026-09-21T14:13:20.123Z',
      sentAt: '2026-09-21T14:13:20.200Z',
      settledAt: '2026-09-21T14:13:35.000Z',
    });
  });

  it('a reservation’s record has a settledAt only in the state settled', () => {
    for (const state of STATES.filter((each) => each !== 'settled')) {
      const record = reservationRecord(aReservation({ state, decidedMs: 1_790_000_015_000 }));
      expect(record.settledAt, state).toBeNull();
    }
    expect(reservationRecord(aReservation({ sentMs: null })).sentAt).toBeNull();
  });

  it('a reservation’s hold has its key root, task, host and payee, and its charge has what was bought', () => {
    const row = aReservation({ keyId: 5, keyRootId: 4, taskId: 't1', responseStatusCode: 200 });
    expect(holdOf(row)).toEqual({
      holdId: row.holdId,
      agentId: row.agentId,
      amountRaw: row.valueRaw,
      facts: { keyRootId: 4, taskId: 't1', host: row.targetHost, payee: row.payee },
    });
    expect(chargeOf(row, 'success')(3n)).toMatchObject({
      agentId: row.agentId,
      keyId: 5,
      costRaw: 3n,
      status: 'success',
      rail: 'x402',
      targetUrl: row.targetUrl,
      payee: row.payee,
      taskId: 't1',
      responseStatusCode: 200,
    });
  });
});
