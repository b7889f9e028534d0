import { setup, transition } from 'xstate';

/**
 * State of a transfer between a developer's wallet and the wallets of agents. A transfer that this server signs becomes
 * `executing` with the commit of its payout; a transfer that the developer signs becomes `submitted` with its transaction.
 */
export type TransferState =
  | 'prepared'
  | 'executing'
  | 'submitted'
  | 'completed'
  | 'failed'
  | 'expired';

export type TransferEvent =
  /** The developer asks this server to sign and send the transfer. */
  | 'execution.requested'
  /** A transaction that carries the transfer was handed to the chain, by this server or by the developer. */
  | 'transaction.sent'
  /** A block with enough confirmations contains the transfer. */
  | 'transfer.seen'
  /** The chain has refused the developer's transaction. */
  | 'transaction.refused'
  | 'deadline.passed';

/**
 * Life of one transfer, from its preparation until the chain decides. Only a transfer that the developer signs can fail: a
 * payout of this server is submitted until the chain shows it.
 *
 * @internal Tests go through all of its states.
 */
export const transferMachine = setup({
  types: { events: {} as { readonly type: TransferEvent } },
}).createMachine({
  id: 'transfer',
  initial: 'prepared',
  states: {
    prepared: {
      on: {
        'execution.requested': 'executing',
        'transaction.sent': 'submitted',
        'transfer.seen': 'completed',
        'deadline.passed': 'expired',
      },
    },
    executing: {
      on: { 'transaction.sent': 'submitted', 'transfer.seen': 'completed' },
    },
    submitted: {
      on: {
        'transaction.sent': 'submitted',
        'transfer.seen': 'completed',
        'transaction.refused': 'failed',
        'deadline.passed': 'failed',
      },
    },
    completed: { type: 'final' },
    failed: { type: 'final' },
    expired: { type: 'final' },
  },
});

/** Returns the state of a transfer after an event; undefined when the event has no effect, as after the end. */
export function planTransfer(from: TransferState, type: TransferEvent): TransferState | undefined {
  const stored = transferMachine.resolveState({ value: from });
  if (stored.status === 'done' || !stored.can({ type })) return undefined;
  return transition(transferMachine, stored, { type })[0].value as TransferState;
}
