import type { ReservationState } from '../../../../machines/reservation.ts';
import type { Ledger } from '../../../ledger/rules/ledger.ts';
import { PAYMENT_LIMITS } from '../../../payments/limits.ts';
import {
  findDonePayouts,
  findOpenPayouts,
  findPayout,
} from '../../../payments/payouts/payout-store.ts';
import type { Payouts } from '../../../payments/payouts/payouts.ts';
import { repayVanished } from '../../../payments/payouts/repay-vanished.ts';
import { createAwaitedStore } from '../../../payments/reconcile/awaited-store.ts';
import { requireCursor } from '../../../payments/reconcile/chain-cursor-store.ts';
import type { ChainView } from '../../../payments/reconcile/judge-by-chain.ts';
import type { OnAlarm } from '../../../payments/reconcile/payment-alarm.ts';
import type { Reconciled } from '../../../payments/reconcile/reconcile.ts';
import {
  createReconcilePayments,
  type ReconcilePayments,
} from '../../../payments/reconcile/reconcile-payments.ts';
import { createAuditStore } from '../../../payments/reconcile/wallet-audit-store.ts';
import { type Audited, createWalletAuditor } from '../../../payments/reconcile/wallet-auditor.ts';
import type { Reservation } from '../../../payments/reservations/reservation.ts';
import {
  findLive,
  findReservation,
  findSettled,
  findWatched,
  wasGivenBack,
} from '../../../payments/reservations/reservation-store.ts';
import { settlementEvents } from '../../../payments/reservations/settlement-events.ts';
import {
  findCredited,
  findFirstWalletMs,
  findWalletOwners,
} from '../../../payments/reservations/wallet-store.ts';
import type { World } from '../world.ts';

export type ReconcilerParts = {
  readonly ledger: Ledger;
  /** Id of this process among all processes on the database. */
  readonly nodeId: string;
  readonly view: ChainView;
  readonly payouts: Pick<Payouts, 'payAgain'>;
  readonly onDone?: (done: Reconciled) => void;
  readonly onEnd?: (state: ReservationState) => void;
  readonly onAlarm?: OnAlarm;
  readonly onAudited?: (audited: Audited) => void;
  /** Milliseconds from the end of an audit round over all wallets to the next round. */
  readonly auditRestMs: number;
};

/**
 * Builds the reconciler, which reads from the chain the outcome of payments, deposits and payouts and writes the outcome to
 * their tables.
 */
export function buildReconciler(
  { sql, clock, log }: Pick<World, 'sql' | 'clock' | 'log'>,
  parts: ReconcilerParts,
): ReconcilePayments {
  const { view, payouts, nodeId } = parts;
  const { watchedSeconds: auditSeconds, watchedPerTick: auditedPerTick } = PAYMENT_LIMITS.released;
  const { perTick: payoutsPerTick } = PAYMENT_LIMITS.payout;
  const lately = { forSeconds: auditSeconds, limit: auditedPerTick };
  const reload = (nonce: string) => findReservation(sql, nonce);
  const findDone = () => findDonePayouts(sql, auditSeconds, payoutsPerTick);
  const findByNonce = reload;
  const applying = {
    ...parts,
    log,
    reload,
    findByNonce,
    findPayout: (nonce: string) => findPayout(sql, nonce),
    wasGivenBack: (nonce: string) => wasGivenBack(sql, nonce),
    findSettled: () => findSettled(sql, lately),
    awaited: createAwaitedStore(sql),
    findCredited: (groups: readonly string[]) => findCredited(sql, groups),
    keepClaim: () => requireCursor(sql, nodeId, PAYMENT_LIMITS.chain.claimMs),
    eventsOf: (row: Reservation, txHash: string) => settlementEvents(sql, row, txHash),
  };
  const audits = createAuditStore(sql);
  return createReconcilePayments({
    ...applying,
    sql,
    clock,
    auditor: createWalletAuditor({ ...applying, audits, restMs: parts.auditRestMs }),
    findLive: () => findLive(sql, PAYMENT_LIMITS.chain.reservationsPerTick),
    findWatched: () => findWatched(sql, lately),
    findOpenPayouts: () => findOpenPayouts(sql, payoutsPerTick),
    repayVanished: (at) => repayVanished({ view, payouts, findDone, log }, at),
    findFirstWalletMs: () => findFirstWalletMs(sql),
    findWalletOwners: () => findWalletOwners(sql),
  });
}
