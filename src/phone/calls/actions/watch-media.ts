import type { Call } from '../call.ts';
import type { CallDeps } from '../call-deps.ts';
import { isOver } from '../hear-carrier.ts';
import type { LiveCall } from '../live-call.ts';

const EVERY_MS = 1_000;

/**
 * Ends a call whose stream has had no sound for `mediaTimeoutMs`: as hung up when the carrier reports its end, and with
 * `media_timeout` otherwise. Stops when the call no longer lives at this process.
 */
export function watchMedia(
  deps: Pick<CallDeps, 'carrier' | 'clock' | 'live' | 'log' | 'mediaTimeoutMs'>,
  { callId, carrierCallId }: Pick<Call, 'callId' | 'carrierCallId'>,
  live: LiveCall,
): void {
  const { carrier, clock, log, mediaTimeoutMs } = deps;
  const look = async () => {
    if (live.silentMs < mediaTimeoutMs) return;
    const asking = carrierCallId === null ? undefined : carrier.calls.find(carrierCallId);
    const record = await asking?.catch((err: unknown) => {
      log.warn({ err, callId }, 'a carrier was not asked about a silent line');
      return undefined;
    });
    // The sound may have come back meanwhile.
    if (live.silentMs < mediaTimeoutMs) return;
    if (record !== undefined && isOver(record.status)) live.hungUp();
    else live.actions.drop('media_timeout');
  };
  const lookLater = () => {
    clock.setTimeout(() => {
      if (deps.live.get(callId) === live) void look().finally(lookLater);
    }, EVERY_MS);
  };
  lookLater();
}
