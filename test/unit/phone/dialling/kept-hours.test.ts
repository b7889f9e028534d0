import { describe, expect, it } from 'vitest';
import { KeptHours } from '../../../../src/phone/dialling/kept-hours.ts';

const NOON_UTC = Date.UTC(2026, 0, 15, 12);
const [EAST, WEST, TOLL_FREE] = ['+12125550123', '+14155550123', '+18005550123'] as const;

describe('hours that are kept', () => {
  it('several calling hours apply at the place of each number', async () => {
    const hours = new KeptHours([{ from: 0, until: 24 }, { from: 7, until: 9 }, undefined]);
    expect(await hours.admit(EAST, NOON_UTC)).toBe(true);
    expect(await hours.admit(WEST, NOON_UTC)).toBe(false);
    expect(await hours.admit(WEST, NOON_UTC + 3 * 3_600_000)).toBe(true);
    expect(await hours.admit(TOLL_FREE, NOON_UTC)).toBe(true);
  });

  it('several calling hours may leave no hour of the day, also when a number may be in two zones', async () => {
    const never = new KeptHours([
      { from: 9, until: 21 },
      { from: 22, until: 8 },
    ]);
    expect(await never.everAdmit(EAST, NOON_UTC)).toBe(false);
    expect(await never.everAdmit(TOLL_FREE, NOON_UTC)).toBe(true);
    const one = new KeptHours([{ from: 9, until: 10 }]);
    expect(await one.everAdmit(EAST, NOON_UTC)).toBe(true);
    // Florida has two zones behind 850.
    expect(await one.everAdmit('+18505550123', NOON_UTC)).toBe(false);
  });
});
