import type { HoldOperation, Operation } from '../../src/ledger/rules/operation.ts';
import { moveOf, paidCharge, payoutOf, reservationOf } from './payments.ts';
import { DESTINATION, FACTS } from './spending.ts';

/** The agent of every operation here. */
export const AGENT = 7;

export const pay = (amountRaw: bigint, name = 'h', taskId?: string): HoldOperation => ({
  kind: 'hold',
  agentId: AGENT,
  holdId: name,
  amountRaw,
  destination: DESTINATION,
  spender: { agentId: AGENT, keyId: 1, ...(taskId === undefined ? {} : { taskId }) },
  session: null,
  reservation: reservationOf(name),
});

/** The end of a payment: all of its hold, or nothing. */
export const end = (
  amountRaw: bigint,
  to: 'settled' | 'expired_unsettled',
  name = 'h',
): Operation => ({
  kind: 'settle',
  agentId: AGENT,
  ends: null,
  hold: { holdId: name, agentId: AGENT, amountRaw, facts: FACTS },
  request: {
    actualRaw: to === 'settled' ? amountRaw : 0n,
    account: 'chain:usdc',
    source: 'x402',
    charges: (chargedRaw) => [paidCharge(AGENT, chargedRaw)],
  },
  move: moveOf(name, 'pending_settlement', to),
});

export const withdraw = (name: string | null): Operation => ({
  kind: 'withdraw',
  agentId: AGENT,
  reference: `close ${name}`,
  payout: name === null ? null : payoutOf(name),
});

export const sweep = (leastRaw: bigint, name = 's'): Operation => ({
  kind: 'sweep',
  agentId: AGENT,
  payout: payoutOf(name, 'sweep'),
  leastRaw,
});

export const correct = (amountRaw: bigint, name = 'h'): Operation => ({
  kind: 'correct',
  agentId: AGENT,
  amountRaw,
  facts: FACTS,
  move: moveOf(name, 'expired_unsettled', 'expired_unsettled'),
  charge: (chargedRaw) => paidCharge(AGENT, chargedRaw),
});

export const deposit = (amountRaw: bigint, isDeposit: boolean): Operation => ({
  kind: 'credit',
  agentId: AGENT,
  amountRaw,
  reference: 'c',
  events: [],
  deposit: isDeposit,
});
