import { insertEvents } from '../../../ledger/store/agent-funds.ts';
import { findWallet } from '../account-store.ts';
import type { Call } from '../call.ts';
import type { CallDeps } from '../call-deps.ts';
import { callEnded } from '../call-events.ts';
import { advanceRow, applyToCall, NOTHING_USED } from '../call-store.ts';
import { hangUpQuietly } from '../hang-up-quietly.ts';
import type { OpenedCall } from '../open-call.ts';

/**
 * Ends a call that is refused at its answer, or where another process was to go on with it, and drops its line. The first
 * has cost nothing: its end and the event are one commit. The other's event is in the ledger, with what it has cost.
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
      // One whose end was asked for before reads as never answered, which is not reported.
      if (ended?.status !== 'failed') return;
      const wallet = await findWallet(tx, call.agentId);
      await insertEvents(tx, [callEnded({ ...call, wallet }, { reason, ...NOTHING_USED })]);
    });
  }
  hangUpQuietly(deps, call);
}
