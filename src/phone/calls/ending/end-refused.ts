import { insertEvents } from '../../../ledger/store/agent-funds.ts';
import { findWallet } from '../account-store.ts';
import type { Call } from '../call.ts';
import type { CallDeps } from '../call-deps.ts';
import { callEnded } from '../call-events.ts';
import { advanceRow, applyToCall, NOTHING_USED } from '../call-store.ts';
import { hangUpQuietly } from '../hang-up-quietly.ts';
import type { OpenedCall } from '../open-call.ts';

/**
 * Ends a call that cannot be opened and hangs up. A new call has cost nothing: its row and its `call.ended` are one commit. A call
 * that another process had has a receipt: the ledger has written its `call.ended` with the settlement.
 */
export async function endRefused(
  deps: CallDeps,
  call: Call,
  { reason, receipt }: Extract<OpenedCall, { kind: 'refused' }>,
): Promise<void> {
  const { sql } = deps;
  const { callId } = call;
  if (receipt !== undefined) {
    const { durationSeconds, legs } = receipt;
    const end = { durationSeconds, legs, isBackstop: false };
    await advanceRow(sql, callId, { type: 'session.ended', reason: receipt.reason }, end);
  } else {
    await sql.begin(async (tx) => {
      const ended = await applyToCall(tx, callId, { type: 'answer.refused', reason });
      // A call that was hung up before it opened counts as never answered, for which there is no event.
      if (ended?.status !== 'failed') return;
      const wallet = await findWallet(tx, call.agentId);
      await insertEvents(tx, [callEnded({ ...call, wallet }, { reason, ...NOTHING_USED })]);
    });
  }
  void hangUpQuietly(deps, call);
}
