import type { TimerHandle } from '../../kernel/clock.ts';
import { holdLargestCount } from '../../ledger/rules/hold-what-fits.ts';
import { turnRefused } from '../live/voice-endings.ts';
import { ledgerAway, type RelayMeterDeps } from './relay-meter.ts';

/**
 * Extends the hold to the cost of `most` further seconds, or of as many as the balance and every cap allow. Ends the session
 * when not even `least` seconds are covered afterwards.
 */
export async function extendTimeHold(
  { send, sessionHold }: Pick<RelayMeterDeps, 'send' | 'sessionHold'>,
  {
    least,
    missingRaw,
    most,
  }: {
    readonly least: number;
    readonly most: number;
    readonly missingRaw: (seconds: number) => bigint;
  },
): Promise<void> {
  const isLast = missingRaw(least) > 0n;
  const { verdict } = await holdLargestCount({
    least,
    most,
    // A refusal has no consequence while the hold covers the time until the next check.
    isNeeded: isLast,
    priceRaw: missingRaw,
    hold: (raw, isQuiet) => sessionHold.extend(raw, isQuiet),
  });
  if (verdict.kind === 'lost') send({ type: 'claim.lost' });
  if (verdict.kind !== 'refused' || !isLast) return;
  send({ type: 'budget.spent', ending: turnRefused(verdict.refusal) });
}

/** Calls `check` every `everyMs`, never two at a time, until the returned function is called. */
export function repeatCheck(
  deps: Pick<RelayMeterDeps, 'clock' | 'life' | 'send'>,
  everyMs: number,
  check: () => Promise<void>,
): () => void {
  const { clock } = deps;
  let isStopped = false;
  let timer: TimerHandle;
  const schedule = () => {
    timer = clock.setTimeout(() => {
      check()
        .catch((error: unknown) => ledgerAway(deps, error))
        .finally(() => {
          if (!isStopped) schedule();
        });
    }, everyMs);
  };
  schedule();
  return () => {
    isStopped = true;
    clock.clearTimeout(timer);
  };
}
