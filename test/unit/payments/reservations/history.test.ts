import { describe, expect, it } from 'vitest';
import { type ReservationState, reservationMachine } from '../../../../machines/reservation.ts';
import { callRecord, type ProxyCallRow } from '../../../../src/payments/reservations/history.ts';
import { aReservation } from '../../../support/a-reservation.ts';

const AT_MS = Date.UTC(2026, 10, 21, 12);

const aCall = (change: Partial<ProxyCallRow> = {}): ProxyCallRow => ({
  id: 118,
  payment: null,
  keyId: 5,
  targetUrl: 'https://vendor.example/',
  method: 'GET',
  responseStatusCode: 200,
  latencyMs: 12,
  taskId: 't1',
  actionId: 'a1',
  createdMs: AT_MS,
  updatedMs: AT_MS + 1_500,
  chargedRaw: 0n,
  ...change,
});

const paid = (change: Parameters<typeof aReservation>[0]) =>
  callRecord(7, aCall({ payment: aReservation(change) }));

describe('a call in an agent’s history', () => {
  it('a paid call’s record in the history has all its fields', () => {
    expect(paid({ state: 'settled', txHash: '0xfeed' })).toEqual({
      id: 118,
      agentId: 7,
      targetUrl: 'https://vendor.example/',
      method: 'GET',
      status: 'success',
      paymentAmountRaw: '10000',
      costRaw: '10000',
      paymentRecipient: aReservation().payee,
      nonce: aReservation().nonce,
      responseStatusCode: 200,
      latencyMs: 12,
      x402TxHash: '0xfeed',
      taskId: 't1',
      actionId: 'a1',
      apiKeyId: 5,
      createdAt: '2026-11-21T12:00:00.000Z',
      updatedAt: '2026-11-21T12:00:01.500Z',
    });
  });

  it('a free call’s record in the history is a success with cost 0 and no payment', () => {
    expect(callRecord(7, aCall())).toMatchObject({
      status: 'success',
      paymentAmountRaw: null,
      paymentRecipient: null,
      costRaw: '0',
      x402TxHash: null,
      nonce: null,
    });
  });

  it('a paid call’s record in the history is pending until the chain decides, then success or failed', () => {
    const expected: Readonly<Record<ReservationState, string>> = {
      reserved: 'pending',
      sent: 'pending',
      pending_settlement: 'pending',
      settled: 'success',
      expired_unsettled: 'failed',
      payment_rejected: 'failed',
      released: 'failed',
    };
    expect(Object.keys(expected).sort()).toEqual(Object.keys(reservationMachine.states).sort());
    for (const [state, status] of Object.entries(expected)) {
      const told = paid({ state: state as ReservationState });
      expect(told, state).toMatchObject({ status, paymentAmountRaw: '10000' });
      expect(told.costRaw, state).toBe(status === 'failed' ? '0' : '10000');
    }
  });

  it('a paid call’s record in the history is a success where the payment moved after its release', () => {
    expect(paid({ state: 'expired_unsettled', isCorrected: true })).toMatchObject({
      status: 'success',
      costRaw: '10000',
    });
  });
});
