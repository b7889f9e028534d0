import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../../../src/http/server/metrics.ts';
import { createPaymentMetrics } from '../../../../src/payments/reconcile/payment-metrics.ts';
import type { Reconciled } from '../../../../src/payments/reconcile/reconcile.ts';

const DONE: Reconciled = {
  readTo: undefined,
  current: undefined,
  settled: 0,
  released: 0,
  deposits: 0,
  left: 0,
};

function world() {
  const metrics = createMetrics({ withProcess: false });
  const payments = createPaymentMetrics(metrics);
  /** A line of what an operator's collector reads, without its help. */
  const line = async (name: string) =>
    (await metrics.render()).split('\n').filter((text) => text.startsWith(name));
  return { payments, line };
}

describe('the metrics of payments', () => {
  it('payment metrics count each step', async () => {
    const { payments, line } = world();
    payments.passed('reserved');
    payments.passed('sending');
    payments.passed('sending');
    expect(await line('svc_payment_steps')).toEqual([
      'svc_payment_steps{step="reserved"} 1',
      'svc_payment_steps{step="sending"} 2',
    ]);
  });

  it('payment metrics show how many reservations wait in each live state, zeros included', async () => {
    const { payments, line } = world();
    payments.waiting(new Map([['sent', 2]]));
    payments.waiting(new Map([['pending_settlement', 5]]));
    expect(await line('svc_reservations_waiting')).toEqual([
      'svc_reservations_waiting{state="reserved"} 0',
      'svc_reservations_waiting{state="sent"} 0',
      'svc_reservations_waiting{state="pending_settlement"} 5',
    ]);
  });

  it('payment metrics count ends by state and alarms by kind', async () => {
    const { payments, line } = world();
    for (const end of ['settled', 'settled', 'released', 'expired_unsettled'] as const) {
      payments.ended(end);
    }
    payments.alarm('moved_after_release');
    // What a reading came to was counted where it was carried out.
    payments.reconciled({ ...DONE, settled: 3, released: 1 });
    expect(await line('svc_reservations_decided')).toEqual([
      'svc_reservations_decided{end="settled"} 2',
      'svc_reservations_decided{end="released"} 1',
      'svc_reservations_decided{end="expired_unsettled"} 1',
    ]);
    expect(await line('svc_payment_alarms')).toEqual([
      'svc_payment_alarms{alarm="moved_after_release"} 1',
    ]);
  });

  it('payment metrics add up the deposits of all readings and keep the last block that was read', async () => {
    const { payments, line } = world();
    const readTo = { number: 41, hash: '0x41', timestampSec: 1 };
    payments.reconciled({ ...DONE, readTo, settled: 3, released: 1, deposits: 2 });
    payments.reconciled({ ...DONE, settled: 1 });
    expect(await line('svc_deposits')).toEqual(['svc_deposits 2']);
    expect(await line('svc_chain_block')).toEqual(['svc_chain_block 41']);
  });

  it('payment metrics show differing wallets and count deposits that the audit found', async () => {
    const { payments, line } = world();
    payments.reconciled({ ...DONE, deposits: 2 });
    payments.audited({ deposits: 3, differing: 4 });
    expect(await line('svc_deposits')).toEqual(['svc_deposits 5']);
    expect(await line('svc_wallet_differences')).toEqual(['svc_wallet_differences 4']);
    payments.audited({ deposits: 0, differing: 0 });
    expect(await line('svc_wallet_differences')).toEqual(['svc_wallet_differences 0']);
  });
});
