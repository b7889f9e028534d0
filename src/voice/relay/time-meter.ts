import type { TimerHandle } from '../../kernel/clock.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { holdLargestCount } from '../../ledger/rules/hold-what-fits.ts';
import {
  type OpenedSessionHold,
  openSessionHold,
  type SessionHoldDeps,
  type SessionHoldOwner,
  sessionPrice,
} from '../billing/session-hold.ts';
import { LEDGER_AWAY, turnRefused } from '../live/voice-endings.ts';
import { journalBought, type RelayMeter, type RelayMeterDeps } from './relay-meter.ts';

const MOST_SECONDS = LIMITS.relayHeldSlices * LIMITS.relaySliceSeconds;
/** The next slice, plus a second in which the ledger bills it. */
const LEAST_SECONDS = LIMITS.relaySliceSeconds + 1;

/** The amount held for a session that is billed by time. */
export const heldTimeRaw = ({ source }: Pick<SessionHoldOwner, 'source'>): bigint =>
  timeRaw({ source }, MOST_SECONDS);

const timeRaw = ({ source }: Pick<SessionHoldOwner, 'source'>, seconds: number): bigint =>
  sessionPrice(source, { audio_second: seconds });

/**
 * Opens the hold of a session that is billed by time: `MOST_SECONDS`, or as many as the balance and every cap allow.
 * Refused where not even `LEAST_SECONDS` fit.
 */
export async function openTimeHold(
  deps: SessionHoldDeps,
  owner: SessionHoldOwner,
): Promise<OpenedSessionHold> {
  const { verdict } = await holdLargestCount({
    least: LEAST_SECONDS,
    most: MOST_SECONDS,
    priceRaw: (seconds) => timeRaw(owner, seconds),
    hold: (raw, isQuiet) => openSessionHold(deps, owner, raw, isQuiet),
  });
  return verdict;
}

/**
 * Bills session time to the millisecond, slice by slice; all slices add up to the price of the whole. Ends the session
 * when the hold does not cover another slice.
 */
export function createTimeMeter(deps: RelayMeterDeps): RelayMeter {
  const { clock, life, owner, sessionHold, send } = deps;
  const startedMs = clock.monotonicMs();
  let billedSeconds = 0;
  let isOver = false;
  let timer: TimerHandle;

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
    const isLast = leftRaw < timeRaw(owner, LEAST_SECONDS);
    const { verdict } = await holdLargestCount({
      least: LEAST_SECONDS,
      most: MOST_SECONDS,
      // A refusal is harmless while the hold covers another slice.
      isNeeded: isLast,
      priceRaw: (seconds) => timeRaw(owner, seconds) - leftRaw,
      hold: (raw, isQuiet) => sessionHold.extend(raw, isQuiet),
    });
    if (verdict.kind === 'lost') send({ type: 'claim.lost' });
    if (verdict.kind !== 'refused' || !isLast) return;
    send({ type: 'budget.spent', ending: turnRefused(verdict.refusal) });
  }

  function schedule(): void {
    timer = clock.setTimeout(() => {
      slice()
        .catch((error: unknown) => {
          life.logError(error, 'ledger is away from a relayed session');
          send({ type: 'session.failed', ending: LEDGER_AWAY });
        })
        .finally(() => {
          if (!isOver) schedule();
        });
    }, LIMITS.relaySliceSeconds * 1_000);
  }
  schedule();

  function stop(): void {
    if (isOver) return;
    isOver = true;
    clock.clearTimeout(timer);
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
