import type { Call } from '../call.ts';
import type { CallDeps } from '../call-deps.ts';
import { advanceRow } from '../call-store.ts';
import { hangUpQuietly } from '../hang-up-quietly.ts';
import type { OpenedCall } from '../open-call.ts';

/**
 * Ends a call that cannot be opened and hangs up. A new call has cost nothing. A call that another process had has a receipt:
 * the ledger has written its `call.ended` with the settlement.
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
    await advanceRow(sql, callId, { type: 'answer.refused', reason });
  }
  void hangUpQuietly(deps, call);
}
