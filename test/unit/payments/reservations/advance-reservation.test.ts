import { describe, expect, it } from 'vitest';
import type { ReservationEvent } from '../../../../machines/reservation.ts';
import { advanceReservation } from '../../../../src/payments/reservations/advance-reservation.ts';
import type { Reservation } from '../../../../src/payments/reservations/reservation.ts';
import { PaymentBook } from '../../../support/payment-book.ts';

const USED: ReservationEvent = { type: 'authorization.used' };
const VOID: ReservationEvent = { type: 'authorization.void', refused: false };
const ARRIVED: ReservationEvent = { type: 'response.arrived' };

async function openOne(state: 'reserved' | 'sent' | 'pending_settlement' = 'sent') {
  const book = new PaymentBook();
  const row = await book.open('p', { state });
  return { book, row, funds: book.funds };
}

describe('a step of a payment', () => {
  it('a step that leaves a payment open updates its row and moves no money', async () => {
    const { book, row, funds } = await openOne();
    const learnt = { responseStatusCode: 201, latencyMs: 12, txHash: '0xabc' };
    expect(await advanceReservation(book, row, ARRIVED, { learnt })).toBe('pending_settlement');
    expect(book.row('p')).toMatchObject({ state: 'pending_settlement', ...learnt });
    expect(book.funds).toEqual(funds);
    expect(book.settlements).toEqual([]);
  });

  it('a step that settles a payment takes its whole hold and writes its charge and events', async () => {
    const { book, row } = await openOne('pending_settlement');
    const learnt = { txHash: '0xdef' };
    const events = [
      { name: 'e', accountId: 'a', agentWallet: null, correlationId: null, payload: {} },
    ];
    expect(await advanceReservation(book, row, USED, { learnt, events })).toBe('settled');
    expect(book.row('p')).toMatchObject({ state: 'settled', txHash: '0xdef' });
    expect(book.funds).toEqual({
      spendableRaw: 990_000n,
      heldRaw: 0n,
      walletRaw: 990_000n,
      promisedRaw: 0n,
    });
    const [settled] = book.settlements;
    expect(settled).toMatchObject({ account: 'chain:usdc', source: 'x402', actualRaw: 10_000n });
    expect(settled?.charges?.(10_000n)[0]).toMatchObject({
      status: 'success',
      costRaw: 10_000n,
      targetHost: 'vendor.test',
      payee: row.payee,
    });
    expect(book.store.events).toBe(1);
    expect(book.store.violations()).toEqual([]);
  });

  it('a step that releases a payment gives all its money back and writes a failed charge', async () => {
    const { book, row } = await openOne();
    const learnt = { responseStatusCode: 504, latencyMs: 7 };
    expect(await advanceReservation(book, row, VOID, { learnt })).toBe('expired_unsettled');
    expect(book.funds).toMatchObject({ spendableRaw: 1_000_000n, heldRaw: 0n, promisedRaw: 0n });
    expect(book.settlements[0]?.charges?.(0n)[0]).toMatchObject({
      status: 'failed',
      responseStatusCode: 504,
      latencyMs: 7,
    });
  });

  it('a step of a payment keeps the response status and latency of earlier steps', async () => {
    const { book, row } = await openOne();
    const learnt = { responseStatusCode: 200, latencyMs: 31 };
    await advanceReservation(book, row, ARRIVED, { learnt });
    await advanceReservation(book, book.row('p'), USED);
    expect(book.settlements[0]?.charges?.(1n)[0]).toMatchObject(learnt);
  });

  it('the end of a payment is reported once, by the step that ends it', async () => {
    const { book, row } = await openOne('reserved');
    const ends: string[] = [];
    const onEnd = (state: string) => void ends.push(state);
    const deps = { ledger: book.ledger, reload: book.reload, onEnd };
    await advanceReservation(deps, row, ARRIVED);
    expect(ends).toEqual([]);
    // One that knows an older state is told what became of it.
    await advanceReservation(deps, row, VOID);
    await advanceReservation(deps, row, USED);
    await advanceReservation(deps, book.row('p'), VOID);
    expect(ends).toEqual(['expired_unsettled']);
  });

  it('a step that has no effect in a payment’s state sends nothing to the ledger', async () => {
    const { book, row } = await openOne('pending_settlement');
    expect(await advanceReservation(book, row, { type: 'request.sent' })).toBe(
      'pending_settlement',
    );
    await book.end('p', 'settled');
    const asked = book.settlements.length;
    for (const event of [USED, VOID, ARRIVED]) {
      expect(await advanceReservation(book, book.row('p'), event)).toBe('settled');
    }
    expect(book.settlements).toHaveLength(asked);
  });
});

describe('a step that another process was quicker than', () => {
  it('a step of a payment with an outdated row is planned again on the current row', async () => {
    const { book, row } = await openOne('reserved');
    await advanceReservation(book, row, { type: 'request.sent' });
    // The row that it was called with still reads `reserved`.
    expect(await advanceReservation(book, row, ARRIVED)).toBe('pending_settlement');
    expect(await advanceReservation(book, row, USED)).toBe('settled');
    expect(book.store.violations()).toEqual([]);
  });

  it('a step of a payment that another process ended changes nothing and moves no money', async () => {
    const { book, row } = await openOne();
    await book.end('p', 'settled');
    const { funds } = book;
    expect(await advanceReservation(book, row, VOID)).toBe('settled');
    expect(await advanceReservation(book, row, ARRIVED)).toBe('settled');
    expect(book.funds).toEqual(funds);
  });

  it('concurrent ends of one payment leave the first one alone', async () => {
    const { book, row } = await openOne();
    const ends = await Promise.all([
      advanceReservation(book, row, VOID),
      advanceReservation(book, row, USED),
      advanceReservation(book, row, ARRIVED),
    ]);
    expect(new Set(ends).size).toBe(1);
    expect(book.row('p').state).toBe(ends[0]);
    expect(book.store.violations()).toEqual([]);
  });

  it('a step of a payment that loses every race throws after a bounded number of reloads', async () => {
    const { row } = await openOne();
    let looks = 0;
    const never = {
      ledger: {
        advance: async () => 'lost' as const,
        settle: async () => ({ kind: 'already_resolved' as const }),
      },
      reload: async (): Promise<Reservation> => {
        looks++;
        return row;
      },
    };
    await expect(advanceReservation(never, row, ARRIVED)).rejects.toThrow('again and again');
    await expect(advanceReservation(never, row, USED)).rejects.toThrow('again and again');
    expect(looks).toBeLessThan(20);
  });

  it('a step of a payment whose row is gone throws', async () => {
    const { book, row } = await openOne();
    const deps = { ledger: book.ledger, reload: async () => undefined };
    await book.end('p', 'settled');
    await expect(advanceReservation(deps, row, VOID)).rejects.toThrow('never deleted');
  });
});
