import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { monthsAfter } from '../../../../src/phone/numbers/renewal-date.ts';

const after = (start: string, months: number) =>
  monthsAfter(new Date(start), months).toISOString().slice(0, 10);

describe('the renewal date', () => {
  it.each([
    ['2026-08-11', 1, '2026-09-11'],
    ['2026-01-31', 1, '2026-02-28'],
    ['2026-01-31', 2, '2026-03-31'],
    ['2028-01-30', 1, '2028-02-29'],
    ['2026-12-31', 2, '2027-02-28'],
    ['2026-11-30', 15, '2028-02-29'],
  ])('the renewal date of %s after %i months is %s', (start, months, due) => {
    expect(after(start, months)).toBe(due);
  });

  it('the renewal date keeps the time of day, moves by calendar months, and never past the day of the start', () => {
    const start = fc.date({
      min: new Date('2000-01-01T00:00:00Z'),
      max: new Date('2090-01-01T00:00:00Z'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(start, fc.integer({ min: 0, max: 120 }), (from, months) => {
        const due = monthsAfter(from, months);
        expect(due.toISOString().slice(10)).toBe(from.toISOString().slice(10));
        expect(due.getUTCDate()).toBeLessThanOrEqual(from.getUTCDate());
        const monthOf = (date: Date) => date.getUTCFullYear() * 12 + date.getUTCMonth();
        expect(monthOf(due) - monthOf(from)).toBe(months);
        if (due.getUTCDate() < from.getUTCDate()) {
          const next = new Date(due.getTime() + 86_400_000);
          expect(next.getUTCDate()).toBe(1);
        }
      }),
    );
  });
});
