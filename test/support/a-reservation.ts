import type { Reservation } from '../../src/payments/reservations/reservation.ts';
import { nonceOf, reservationOf } from './payments.ts';

/** A payment of a cent that waits for the chain, signed for a vendor by agent 1. */
export function aReservation(change: Partial<Reservation> = {}): Reservation {
  const { wallet, payee, validBefore, targetUrl, targetHost, method } = reservationOf('one');
  return {
    nonce: nonceOf('one'),
    holdId: 'pay_one',
    agentId: 1,
    keyId: 1,
    keyRootId: 1,
    wallet,
    payee,
    valueRaw: 10_000n,
    validBefore,
    targetUrl,
    targetHost,
    method,
    taskId: null,
    actionId: null,
    customerId: null,
    state: 'pending_settlement',
    refused: false,
    txHash: null,
    responseStatusCode: null,
    latencyMs: null,
    reservedMs: (validBefore - 90) * 1_000,
    sentMs: null,
    decidedMs: null,
    isCorrected: false,
    ...change,
  };
}
