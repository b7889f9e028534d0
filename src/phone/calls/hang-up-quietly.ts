import { PHONE_LIMITS } from '../limits.ts';
import type { Call } from './call.ts';
import type { CallDeps } from './call-deps.ts';
import { putOffCall } from './call-store.ts';

/** Has the carrier hang up. Never rejects: after a failure the sweeper tries again, unless the row is terminal. */
export async function hangUpQuietly(
  { carrier, log, sql }: Pick<CallDeps, 'carrier' | 'log' | 'sql'>,
  { callId, carrierCallId }: Pick<Call, 'callId' | 'carrierCallId'>,
): Promise<void> {
  if (carrierCallId === null) return;
  const failed = (err: unknown) => log.warn({ err, callId }, 'a carrier did not hang up');
  await carrier.calls
    .hangUp(carrierCallId)
    .catch(async (err: unknown) => {
      failed(err);
      await putOffCall(sql, callId, PHONE_LIMITS.call.hangUpAgainMs.first);
    })
    .catch(failed);
}
