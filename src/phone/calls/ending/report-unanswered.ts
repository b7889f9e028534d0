import type { CallEvent } from '../../../../machines/call.ts';
import { insertEvents } from '../../../ledger/store/agent-funds.ts';
import type { Queryable } from '../../../platform/postgres/sql.ts';
import { findWallet } from '../account-store.ts';
import type { Call } from '../call.ts';
import { type CallReceipt, callEnded, callRejected } from '../call-events.ts';

/**
 * Reports the end of a call without a conversation, in the commit that ends its row: `call.ended` when the call was picked up
 * and then refused, `call.rejected` for every other call.
 */
export async function reportUnanswered(
  tx: Queryable,
  call: Call,
  by: CallEvent,
  end: Omit<CallReceipt, 'reason'>,
): Promise<void> {
  const reason = call.endReason ?? 'error';
  const named = { ...call, wallet: await findWallet(tx, call.agentId) };
  const isPickedUp = by.type === 'answer.refused' && call.status === 'failed';
  const event = isPickedUp ? callEnded(named, { ...end, reason }) : callRejected(named, reason);
  await insertEvents(tx, [event]);
}
