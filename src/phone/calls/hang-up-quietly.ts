import type { Call } from './call.ts';
import type { CallDeps } from './call-deps.ts';

/** Drops the line at the carrier. Where that fails the call is over all the same, and the sweeper asks again. */
export function hangUpQuietly(
  { carrier, log }: Pick<CallDeps, 'carrier' | 'log'>,
  { callId, carrierCallId }: Pick<Call, 'callId' | 'carrierCallId'>,
): void {
  if (carrierCallId === null) return;
  carrier.calls
    .hangUp(carrierCallId)
    .catch((err: unknown) => log.warn({ err, callId }, 'a carrier did not hang up'));
}
