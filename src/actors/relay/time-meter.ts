import type { TimerHandle } from '../../kernel/clock.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { LEDGER_AWAY, turnRefused } from '../voice-endings.ts';
import { type PurseOwner, sessionPrice } from '../voice-purse.ts';
import { journalBought, type RelayMeter, type RelayMeterDeps } from './relay-meter.ts';

/** What is held for a session that is billed by its time. */
export const heldTimeRaw = ({ source }: Pick<PurseOwner, 'source'>): bigint =>
  timeRaw({ source }, LIMITS.relayHeldSlices * LIMITS.relaySliceSeconds);

const timeRaw = ({ source }: Pick<PurseOwner, 'source'>, seconds: number): bigint =>
  sessionPrice(source, { audio_second: seconds });

/**
 * Bills the time that a session lasts, to the millisecond, a slice at a time; all slices add up to the price of the
 * whole. It ends when less is held than another slice may cost.
 */
export function createTimeMeter(deps: RelayMeterDeps): RelayMeter {
  const { clock, life, owner, purse, tell } = deps;
  const startedMs = clock.monotonicMs();
  let billedSeconds = 0;
  let isOver = false;
  let timer: TimerHandle;

  function bill(): Promise<void> | undefined {
    const seconds = Math.round(clock.monotonicMs() - startedMs) / 1_000;
    const costRaw = timeRaw(owner, seconds) - timeRaw(owner, billedSeconds);
    const audioSeconds = Math.round((seconds - billedSeconds) * 1_000) / 1_000;
    billedSeconds = seconds;
    if (audioSeconds === 0) return undefined;
    return journalBought(deps, costRaw, { audio_second: audioSeconds });
  }

  async function slice(): Promise<void> {
    await bill();
    const leftRaw = purse.heldRaw - purse.spentRaw;
    const verdict = await purse.extend(heldTimeRaw(owner) - leftRaw);
    if (verdict.kind === 'lost') tell({ type: 'claim.lost' });
    if (verdict.kind !== 'refused') return;
    // Until the next slice is billed, and the moment that this takes.
    if (leftRaw >= timeRaw(owner, LIMITS.relaySliceSeconds + 1)) return;
    tell({ type: 'budget.spent', ending: turnRefused(verdict.refusal) });
  }

  function schedule(): void {
    timer = clock.setTimeout(() => {
      slice()
        .catch((error: unknown) => {
          life.logError(error, 'ledger is away from a relayed session');
          tell({ type: 'session.failed', ending: LEDGER_AWAY });
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
