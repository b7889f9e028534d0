import { describe, expect, it } from 'vitest';
import { count, emptyCounter } from '../../../src/policy/counter.ts';
import { bucketAt, bucketStartMs } from '../../../src/policy/window.ts';
import { windowResetMs } from '../../../src/policy/window-reset.ts';
import { aPolicy } from '../../support/a-policy.ts';

const widthMs = (seconds: number) => bucketStartMs({ kind: 'rolling', seconds }, 1) ?? 0;
const NOW = Date.UTC(2026, 2, 18, 13, 30); // A Wednesday.

describe('when a window resets', () => {
  const rolling = aPolicy({ window: { kind: 'rolling', seconds: 5_900 } });
  const empty = emptyCounter(rolling.id, 60);

  it('a rolling window without any spending has no reset', () => {
    expect(windowResetMs(rolling, empty, NOW)).toBeNull();
  });

  it('a rolling window with held money alone resets a whole window from now', () => {
    const bucket = bucketAt(rolling, NOW);
    const held = count(empty, bucket, { heldRaw: 5n, settledRaw: 0n });
    expect(windowResetMs(rolling, held, NOW)).toBe((bucket + 60) * widthMs(5_900));
    const later = NOW + widthMs(5_900);
    expect(windowResetMs(rolling, held, later)).toBe((bucket + 61) * widthMs(5_900));
  });

  it('a rolling window resets when its oldest bucket with spending leaves, and not before', () => {
    const width = widthMs(5_900);
    const first = bucketAt(rolling, NOW);
    const once = count(empty, first, { heldRaw: 0n, settledRaw: 5n });
    const twice = count(once, first + 10, { heldRaw: 0n, settledRaw: 5n });
    expect(windowResetMs(rolling, twice, NOW)).toBe((first + 60) * width);
    expect(windowResetMs(rolling, twice, (first + 60) * width - 1)).toBe((first + 60) * width);
    expect(windowResetMs(rolling, twice, (first + 60) * width)).toBe((first + 70) * width);
    expect(windowResetMs(rolling, twice, (first + 70) * width)).toBeNull();
  });

  it('a calendar window resets at the end of its UTC period, and a once or session window has no reset', () => {
    const at = (unit: 'day' | 'week' | 'month') =>
      windowResetMs(aPolicy({ window: { kind: 'calendar', unit } }), emptyCounter(1, 1), NOW);
    expect(at('day')).toBe(Date.UTC(2026, 2, 19));
    expect(at('week')).toBe(Date.UTC(2026, 2, 23));
    expect(at('month')).toBe(Date.UTC(2026, 3, 1));
    for (const kind of ['once', 'session'] as const) {
      expect(windowResetMs(aPolicy({ window: { kind } }), emptyCounter(1, 1), NOW)).toBeNull();
    }
  });
});
