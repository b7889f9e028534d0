import type { SessionEndReason } from '../../../../machines/call.ts';
import { addLine } from '../../records/record-store.ts';
import type { Call } from '../call.ts';
import type { CallDeps } from '../call-deps.ts';
import type { CallMoney } from '../call-money.ts';
import { advanceRow, putOffCall } from '../call-store.ts';
import { hangUpQuietly } from '../hang-up-quietly.ts';
import type { LiveCall } from '../live-call.ts';
import type { CallTurns } from '../turn-writer.ts';

/** Milliseconds until the carrier is first asked whether a transferred call is over: its report may have come too early. */
const TRANSFERRED_MS = 5_000;

type ClosingCall = {
  readonly call: Call;
  readonly live: Pick<LiveCall, 'line' | 'lineFigures'>;
  readonly money: Pick<CallMoney, 'receipt' | 'undecided'>;
  /** Resolves once the peer has heard the last words. */
  readonly over: Promise<void>;
  readonly turns: Pick<CallTurns, 'flushed'>;
};

/**
 * Hangs up a call whose session is over, and writes its row with the ledger's settlement. A call that was transferred, or whose
 * settlement is unknown, is left to the sweeper, which settles it once the carrier has ended it; a call that another process
 * has taken over is not hung up.
 */
export async function closeCall(
  deps: Pick<CallDeps, 'carrier' | 'log' | 'sql'>,
  { call, live, money, over, turns }: ClosingCall,
): Promise<void> {
  const { sql } = deps;
  const { callId } = call;
  const receipt = money.receipt();
  const line = live.lineFigures;
  const reason = receipt?.reason ?? money.undecided();
  if (reason !== undefined) {
    const dropLine = () => {
      live.line.close(1000, reason);
      if (needsHangUp(reason)) void hangUpQuietly(deps, call);
    };
    over.then(dropLine, dropLine);
  }
  if (receipt === undefined) {
    await addLine(sql, callId, line);
    if (reason !== 'call_transfer') return;
    await advanceRow(sql, callId, { type: 'transfer.answered' });
    await putOffCall(sql, callId, TRANSFERRED_MS);
    await turns.flushed();
    return;
  }
  const { durationSeconds, legs } = receipt;
  await turns.flushed();
  await advanceRow(
    sql,
    callId,
    { type: 'session.ended', reason: receipt.reason },
    { durationSeconds, legs, isBackstop: false, line },
  );
}

/**
 * Returns true when the carrier must hang up. A transferred call goes on at the carrier, and a call that the peer ended is over
 * there.
 */
const needsHangUp = (reason: SessionEndReason): boolean =>
  reason !== 'call_ended' && reason !== 'call_transfer';
