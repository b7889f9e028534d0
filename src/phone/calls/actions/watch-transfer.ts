import { PHONE_LIMITS } from '../../limits.ts';
import type { CallDeps } from '../call-deps.ts';
import { findCall } from '../call-store.ts';
import type { LiveActions } from './live-actions.ts';

/**
 * Reads the row of a call while it is transferred: the carrier may report the other person's answer, or the end of the call, to
 * another process. Stops by itself after `PHONE_LIMITS.transfer.timeoutMs`, when the transfer is over.
 */
export function watchTransfer(
  { clock, live, log, sql }: Pick<CallDeps, 'clock' | 'live' | 'log' | 'sql'>,
  callId: string,
  actions: Pick<LiveActions, 'isTransferring' | 'transferred'>,
): void {
  const look = async () => {
    const living = live.get(callId);
    if (living === undefined || !actions.isTransferring) return;
    const call = await findCall(sql, callId);
    if (call?.endReason === 'call_transfer') actions.transferred();
    else if (call?.status === 'ending') living.hungUp();
  };
  const lookLater = () => {
    clock.setTimeout(() => {
      if (!live.has(callId) || !actions.isTransferring) return;
      look()
        .catch((err: unknown) => log.warn({ err, callId }, 'a transferred call was not read'))
        .finally(lookLater);
    }, PHONE_LIMITS.transfer.pollMs);
  };
  lookLater();
}
