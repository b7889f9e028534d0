import { type Clock, within } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import type { Counter } from '../../policy/counter.ts';
import type { Policy } from '../../policy/policy.ts';
import { SPEND_LIMITS } from '../limits.ts';

type Counters = ReadonlyMap<number, Counter>;
type Reading = { readonly atMs: number; readonly counters: Promise<Counters | undefined> };

export type TeamReadings = ReturnType<typeof createTeamReadings>;

/**
 * Reads the counters of team caps for answers that only report them: one reading a second for each team. Undefined when
 * the database does not answer within `SPEND_LIMITS.awareness.teamReadingWaitMs`; the answer then omits these figures.
 */
export function createTeamReadings(deps: {
  readonly read: (policyIds: readonly number[]) => Promise<Counters>;
  readonly clock: Clock;
  readonly log: Log;
}) {
  const { read, clock, log } = deps;
  /** Readings by name, the oldest first. */
  const readings = new Map<string, Reading>();

  function remember(name: string, reading: Reading): void {
    readings.delete(name);
    readings.set(name, reading);
    for (const [oldest] of readings) {
      if (readings.size <= SPEND_LIMITS.awareness.teamReadingsKept) return;
      readings.delete(oldest);
    }
  }

  async function readNow(policyIds: readonly number[]): Promise<Counters | undefined> {
    try {
      return await within(
        clock,
        SPEND_LIMITS.awareness.teamReadingWaitMs,
        read(policyIds),
        () => undefined,
      );
    } catch (error) {
      log.warn({ err: error }, 'what counts under the caps of a team was not read');
      return undefined;
    }
  }

  return {
    of(policies: readonly Policy[]): Promise<Counters | undefined> {
      const policyIds = policies.map(({ id }) => id);
      const name = policyIds.join();
      const known = readings.get(name);
      const atMs = clock.monotonicMs();
      if (known !== undefined && atMs - known.atMs < SPEND_LIMITS.awareness.teamReadingMs)
        return known.counters;
      const reading = { atMs, counters: readNow(policyIds) };
      remember(name, reading);
      return reading.counters;
    },
  };
}
