import type { EventRow } from '../../ledger/rules/companion.ts';
import type { Queryable } from '../../platform/postgres/sql.ts';
import { paymentFirstSettled } from '../../webhooks/payment-event.ts';
import type { Reservation } from './reservation.ts';
import { findUnsettledOwner } from './reservation-store.ts';

/** The events of a settled payment: an agent's first one shows that it can pay. */
export async function firstSettlement(
  sql: Queryable,
  row: Reservation,
  txHash: string,
): Promise<readonly EventRow[]> {
  const accountId = await findUnsettledOwner(sql, row.agentId);
  if (accountId === undefined) return [];
  const { agentId, wallet, targetUrl: url, valueRaw: amountRaw, nonce } = row;
  return [paymentFirstSettled({ accountId, agentId, wallet, url, amountRaw, txHash, nonce })];
}
