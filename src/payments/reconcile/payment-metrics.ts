import type { ReservationState } from '../../../machines/reservation.ts';
import type { Metrics } from '../../platform/tracing/metrics.ts';
import type { PaymentStep } from '../proxy/payment-steps.ts';
import type { PaymentAlarm } from './payment-alarm.ts';
import type { Reconciled } from './reconcile.ts';
import type { Audited } from './wallet-auditor.ts';

const LIVE: readonly ReservationState[] = ['reserved', 'sent', 'pending_settlement'];

/** Creates the metrics of payments: the payments that wait, by their state, and the ends of all other payments. */
export function createPaymentMetrics(metrics: Metrics) {
  const steps = metrics.counter('svc_payment_steps', 'Steps that payments have passed.', ['step']);
  const waiting = metrics.gauge(
    'svc_reservations_waiting',
    'Payments that the chain has yet to decide.',
    ['state'],
  );
  const decided = metrics.counter(
    'svc_reservations_decided',
    'Payments that have come to their end, by which.',
    ['end'],
  );
  const alarms = metrics.counter(
    'svc_payment_alarms',
    'What the chain shows of wallets and the books did not expect.',
    ['alarm'],
  );
  const deposits = metrics.counter('svc_deposits', 'Transfers into wallets that were credited.');
  const readTo = metrics.gauge('svc_chain_block', 'The block up to which the chain has been read.');
  const differing = metrics.gauge(
    'svc_wallet_differences',
    'Wallets that hold something else on chain than by the book, and no log explains it.',
  );
  return {
    passed: (step: PaymentStep) => steps.add(1, { step }),
    ended: (state: ReservationState) => decided.add(1, { end: state }),
    alarm: (alarm: PaymentAlarm) => alarms.add(1, { alarm }),
    waiting(counts: ReadonlyMap<ReservationState, number>) {
      for (const state of LIVE) waiting.set(counts.get(state) ?? 0, { state });
    },
    audited(audited: Audited) {
      deposits.add(audited.deposits);
      differing.set(audited.differing);
    },
    reconciled(done: Reconciled) {
      deposits.add(done.deposits);
      if (done.readTo !== undefined) readTo.set(done.readTo.number);
    },
  };
}
