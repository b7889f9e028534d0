import type { EventRow } from '../../ledger/rules/companion.ts';
import type { Queryable } from '../../platform/postgres/sql.ts';
import { paymentFirstSettled, paymentSettled } from '../../webhooks/payment-event.ts';
import type { Reservation } from './reservation.ts';
import { findPayer } from './reservation-store.ts';

/**
 * Returns the events of a payment that the chain has settled. An agent's first settled payment has a second event, since it
 * shows that the agent can pay.
 */
export async function settlementEvents(
  sql: Queryable,
  row: Reservation,
  txHash: string,
): Promise<readonly EventRow[]> {
  const payer = await findPayer(sql, row.agentId);
  if (payer === undefined) return [];
  const { agentId, nonce, targetHost: host, targetUrl: url, valueRaw: amountRaw, wallet } = row;
  const { accountId, isFirst } = payer;
  const payment = { accountId, agentId, wallet, url, host, amountRaw, txHash, nonce };
  return isFirst
    ? [paymentFirstSettled(payment), paymentSettled(payment)]
    : [paymentSettled(payment)];
}
