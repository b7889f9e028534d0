import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../../src/kernel/log.ts';
import { type Counter, emptyCounter } from '../../../../src/policy/counter.ts';
import { createTeamReadings } from '../../../../src/spend/awareness/team-readings.ts';
import { SPEND_LIMITS } from '../../../../src/spend/limits.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { policyOf } from '../../../support/spending.ts';

const policies = [policyOf({ id: 1, agentId: null }), policyOf({ id: 2, agentId: null })];
const counters = new Map<number, Counter>([[1, emptyCounter(1, 1)]]);

function world(read: () => Promise<ReadonlyMap<number, Counter>> = async () => counters) {
  const clock = new ManualClock();
  let reads = 0;
  const readings = createTeamReadings({
    clock,
    log: silentLog,
    read: () => {
      reads++;
      return read();
    },
  });
  return { clock, readings, reads: () => reads };
}

describe('readings of what teams have spent', () => {
  it('a team’s counters are read once in `teamReadingMs`, however many requests need them', async () => {
    const { clock, readings, reads } = world();
    const answers = await Promise.all(Array.from({ length: 100 }, () => readings.of(policies)));
    expect(new Set(answers)).toEqual(new Set([counters]));
    expect(reads()).toBe(1);
    await clock.advance(SPEND_LIMITS.awareness.teamReadingMs - 1);
    await readings.of(policies);
    expect(reads()).toBe(1);
    await clock.advance(1);
    await readings.of(policies);
    expect(reads()).toBe(2);
  });

  it('a team’s counters are read again as soon as its policies change', async () => {
    const { readings, reads } = world();
    await readings.of(policies);
    await readings.of(policies.slice(0, 1));
    expect(reads()).toBe(2);
  });

  it('reading a team’s counters takes up to `teamReadingWaitMs` and never rejects', async () => {
    const late = world(() => new Promise(() => {}));
    const answer = late.readings.of(policies);
    await late.clock.advance(SPEND_LIMITS.awareness.teamReadingWaitMs);
    expect(await answer).toBeUndefined();
    const failing = world(() => Promise.reject(new Error('away')));
    expect(await failing.readings.of(policies)).toBeUndefined();
  });

  it('team counters beyond `teamReadingsKept` are dropped, the oldest first', async () => {
    const { readings, reads } = world();
    for (let id = 0; id <= SPEND_LIMITS.awareness.teamReadingsKept; id++)
      await readings.of([policyOf({ id })]);
    const made = reads();
    await readings.of([policyOf({ id: SPEND_LIMITS.awareness.teamReadingsKept })]);
    expect(reads()).toBe(made);
    await readings.of([policyOf({ id: 0 })]);
    expect(reads()).toBe(made + 1);
  });
});
