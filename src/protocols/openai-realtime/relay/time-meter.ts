import {
  type OpenedSessionHold,
  openLargestHold,
  type SessionHoldDeps,
  type SessionHoldOwner,
  sessionPrice,
} from '../../../voice/billing/session-hold.ts';
import {
  extendTimeHold,
  journalBought,
  type RelayMeterDeps,
  repeatCheck,
} from '../../../voice/relay/relay-hold.ts';
import { LIVE_LIMITS } from '../../openai-live/limits.ts';
import type { RelayMeter } from './relay-meter.ts';

const MOST_SECONDS = LIVE_LIMITS.heldSlices * LIVE_LIMITS.sliceSeconds;
/** Smallest hold in seconds: the next slice, and one second for the ledger to bill it. */
const LEAST_SECONDS = LIVE_LIMITS.sliceSeconds + 1;

/** Returns the amount held for a session that is billed by time. */
export const heldTimeRaw = ({ source }: Pick<SessionHoldOwner, 'source'>): bigint =>
  timeRaw({ source }, MOST_SECONDS);

const timeRaw = ({ source }: Pick<SessionHoldOwner, 'source'>, seconds: number): bigint =>
  sessionPrice(source, { audio_second: seconds });

/**
 * Opens the hold of a session that is billed by time: `MOST_SECONDS`, or fewer when the balance or a cap allows no more.
 * Refused when not even `LEAST_SECONDS` can be held.
 */
export const openTimeHold = (
  deps: SessionHoldDeps,
  owner: SessionHoldOwner,
): Promise<OpenedSessionHold> =>
  openLargestHold(deps, owner, {
    least: LEAST_SECONDS,
    most: MOST_SECONDS,
    priceRaw: (seconds) => timeRaw(owner, seconds),
  });

/**
 * Creates a meter that bills session time to the millisecond, slice by slice; the slices add up to the price of the whole time.
 * Ends the session when the hold does not cover another slice.
 */
export function createTimeMeter(deps: RelayMeterDeps): RelayMeter {
  const { clock, owner, sessionHold } = deps;
  const startedMs = clock.monotonicMs();
  let billedSeconds = 0;
  let isOver = false;

  function bill(): Promise<bigint | undefined> | undefined {
    const seconds = Math.round(clock.monotonicMs() - startedMs) / 1_000;
    const costRaw = timeRaw(owner, seconds) - timeRaw(owner, billedSeconds);
    const audioSeconds = Math.round((seconds - billedSeconds) * 1_000) / 1_000;
    billedSeconds = seconds;
    if (audioSeconds === 0) return undefined;
    return journalBought(deps, costRaw, { audio_second: audioSeconds });
  }

  async function slice(): Promise<void> {
    await bill();
    const leftRaw = sessionHold.heldRaw - sessionHold.spentRaw;
    await extendTimeHold(deps, {
      least: LEAST_SECONDS,
      most: MOST_SECONDS,
      missingRaw: (seconds) => timeRaw(owner, seconds) - leftRaw,
    });
  }

  const stopSlices = repeatCheck(deps, LIVE_LIMITS.sliceSeconds * 1_000, slice);

  function stop(): void {
    if (isOver) return;
    isOver = true;
    stopSlices();
    void bill();
  }

  return {
    carried() {},
    began() {},
    done: () => undefined,
    heard: () => undefined,
    makeWhole() {},
    stopped: stop,
    end: stop,
  };
}
