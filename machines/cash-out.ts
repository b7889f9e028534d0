import { setup, transition } from 'xstate';

/** State of an order that turns USDC into money at a bank, in the words of the contract. */
export type CashOutState =
  | 'created'
  | 'leg1_pending'
  | 'awaiting_form'
  | 'awaiting_send'
  | 'sent'
  | 'processing'
  | 'completed'
  | 'failed'
  | 'expired'
  | 'cancelled';

export type CashOutEvent =
  /** The ledger has withdrawn the amount and planned the payout to the developer's wallet. */
  | 'leg.written'
  /** The ledger has refused the withdrawal. */
  | 'leg.refused'
  /** The developer's wallet has the USDC: the chain shows the payout, or the USDC was there before. */
  | 'leg.seen'
  /** The provider has a sale under the order's reference, with the address to send to. */
  | 'sale.opened'
  /** The developer reports the transaction that sends the USDC to the provider. */
  | 'send.reported'
  /** The provider has received the USDC. */
  | 'sale.received'
  | 'sale.completed'
  | 'sale.failed'
  | 'sale.expired'
  | 'cancel.requested'
  | 'deadline.passed';

/**
 * Life of one cash-out. The first leg is a payout to the developer's wallet; from then on the order follows the sale at the
 * provider and moves no money of this server.
 *
 * @internal Tests go through all of its states.
 */
export const cashOutMachine = setup({
  types: { events: {} as { readonly type: CashOutEvent } },
}).createMachine({
  id: 'cash-out',
  initial: 'created',
  states: {
    created: {
      on: { 'leg.written': 'leg1_pending', 'leg.refused': 'failed', 'leg.seen': 'awaiting_form' },
    },
    leg1_pending: {
      on: { 'leg.seen': 'awaiting_form', 'cancel.requested': 'cancelled' },
    },
    awaiting_form: {
      on: {
        'sale.opened': 'awaiting_send',
        'sale.received': 'processing',
        'sale.completed': 'completed',
        'sale.failed': 'failed',
        'sale.expired': 'expired',
        'cancel.requested': 'cancelled',
        'deadline.passed': 'expired',
      },
    },
    awaiting_send: {
      on: {
        'send.reported': 'sent',
        'sale.received': 'processing',
        'sale.completed': 'completed',
        'sale.failed': 'failed',
        'sale.expired': 'expired',
        'cancel.requested': 'cancelled',
        'deadline.passed': 'expired',
      },
    },
    sent: {
      on: {
        'sale.received': 'processing',
        'sale.completed': 'completed',
        'sale.failed': 'failed',
        'sale.expired': 'failed',
        'deadline.passed': 'failed',
      },
    },
    processing: {
      on: {
        'sale.completed': 'completed',
        'sale.failed': 'failed',
        'sale.expired': 'failed',
        'deadline.passed': 'failed',
      },
    },
    completed: { type: 'final' },
    failed: { type: 'final' },
    expired: { type: 'final' },
    cancelled: { type: 'final' },
  },
});

/** Returns the state of an order after an event; undefined when the event has no effect, as after the end. */
export function planCashOut(from: CashOutState, type: CashOutEvent): CashOutState | undefined {
  const stored = cashOutMachine.resolveState({ value: from });
  if (stored.status === 'done' || !stored.can({ type })) return undefined;
  return transition(cashOutMachine, stored, { type })[0].value as CashOutState;
}
