import { LIMITS } from '../../../kernel/limits.ts';
import type { CallDeps } from '../call-deps.ts';
import { findCall } from '../call-store.ts';
import type { LiveActions } from './live-actions.ts';

/**
 * Looks at the row of a call while it is transferred, since the carrier may tell another process that the other person
 * has answered, or that the call is over. Stops by itself: a transfer is over after `LIMITS.phone.transferMs`.
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
    }, LIMITS.phone.transferPollMs);
  };
  lookLater();
}
