import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../../src/kernel/log.ts';
import type { Ledger } from '../../../../src/ledger/rules/ledger.ts';
import type { ChainVerdict } from '../../../../src/payments/reconcile/judge-by-chain.ts';
import { releaseByChain } from '../../../../src/payments/reconcile/release-by-chain.ts';
import type { Reservation } from '../../../../src/payments/reservations/reservation.ts';
import { aReservation } from '../../../support/a-reservation.ts';

/** A ledger of one row: what it moves, the row follows. */
function world(start: Reservation, verdict: ChainVerdict, meanwhile?: Reservation['state']) {
  let row = start;
  const settled: bigint[] = [];
  const asked: string[] = [];
  const take = (move: Parameters<Ledger['advance']>[0]['move']): boolean => {
    if (row.state !== move.from) return false;
    row = { ...row, state: move.to, txHash: move.learnt?.txHash ?? row.txHash };
    return true;
  };
  const deps = {
    ledger: {
      advance: async ({ move }) => (take(move) ? 'moved' : 'lost'),
      settle: async ({ actualRaw, move }) => {
        if (move === undefined || !take(move)) return { kind: 'already_resolved' };
        settled.push(actualRaw);
        const funds = { spendableRaw: 0n, heldRaw: 0n };
        return { kind: 'settled', chargedRaw: actualRaw, funds };
      },
      correct: async () => {},
    } satisfies Pick<Ledger, 'advance' | 'settle' | 'correct'>,
    judge: {
      ask: async ({ nonce }: { readonly nonce: string }) => {
        asked.push(nonce);
        if (meanwhile !== undefined) row = { ...row, state: meanwhile };
        return verdict;
      },
    },
    reload: async () => row,
    eventsOf: async () => [],
    log: silentLog,
  };
  return { settled, asked, release: () => releaseByChain(deps, start), now: () => row };
}

const USED: ChainVerdict = { kind: 'used', txHash: '0xfeed' };
const VOID: ChainVerdict = { kind: 'void' };
const UNDECIDED: ChainVerdict = { kind: 'undecided' };

describe('releasing a payment by hand', () => {
  it('a release by hand releases a payment in any live state that the chain shows void', async () => {
    for (const state of ['reserved', 'sent', 'pending_settlement'] as const) {
      const { release, settled, asked } = world(aReservation({ state }), VOID);
      expect(await release()).toMatchObject({ state: 'payment_rejected' });
      expect(settled).toEqual([0n]);
      // The operator waits for an answer, and not for the chain.
      expect(asked).toHaveLength(1);
    }
  });

  it('a release by hand settles a payment that the chain shows used and answers reservation_settled', async () => {
    const { release, settled, now } = world(aReservation(), USED);
    await expect(release()).rejects.toMatchObject({
      status: 409,
      error: 'reservation_settled',
      fields: { state: 'settled', terminal: true, txHash: '0xfeed', nonce: now().nonce },
    });
    expect(settled).toEqual([10_000n]);
  });

  it('a release by hand moves nothing while the chain is undecided', async () => {
    const { release, settled, now } = world(aReservation({ state: 'sent' }), UNDECIDED);
    await expect(release()).rejects.toMatchObject({
      status: 409,
      error: 'reservation_undecided',
      fields: { state: 'sent' },
    });
    expect(settled).toEqual([]);
    expect(now().state).toBe('sent');
  });

  it('a release by hand of an ended payment answers its end without reading the chain', async () => {
    for (const state of ['expired_unsettled', 'payment_rejected', 'released'] as const) {
      const { release, asked } = world(aReservation({ state }), USED);
      expect(await release()).toMatchObject({ state });
      expect(asked).toEqual([]);
    }
    await expect(world(aReservation({ state: 'settled' }), VOID).release()).rejects.toMatchObject({
      status: 409,
      error: 'reservation_settled',
    });
    const corrected = aReservation({ state: 'expired_unsettled', isCorrected: true });
    await expect(world(corrected, VOID).release()).rejects.toMatchObject({ status: 409 });
  });

  it('a release by hand answers the end that another process wrote first', async () => {
    const quicker = world(aReservation(), VOID, 'expired_unsettled');
    expect(await quicker.release()).toMatchObject({ state: 'expired_unsettled' });
    expect(quicker.settled).toEqual([]);
    const paid = world(aReservation(), USED, 'settled');
    await expect(paid.release()).rejects.toMatchObject({ error: 'reservation_settled' });
    expect(paid.settled).toEqual([]);
  });
});
