import { describe, expect, it } from 'vitest';
import {
  comparePrice,
  nextAskMs,
  tripwiresOf,
} from '../../../../src/phone/carrier-prices/compare-price.ts';

const CALL = { chargedRaw: 14_700n, durationSeconds: 60, carrierPriceRaw: 14_000n };

describe('the price of a carrier', () => {
  it('exceeds what was charged from one raw unit more on', () => {
    const of = (carrierPriceRaw: bigint) =>
      comparePrice({ ...CALL, carrierPriceRaw, carrierSeconds: 60 });
    expect(of(14_700n)).toEqual({ excessRaw: 0n, isExceeded: false, isDurationOff: false });
    expect(of(14_701n)).toMatchObject({ excessRaw: 1n, isExceeded: true });
    expect(of(0n)).toMatchObject({ excessRaw: -14_700n, isExceeded: false });
  });

  it('is of another duration when the carrier counts more than five seconds apart, in either direction', () => {
    const off = (carrierSeconds: number | null) =>
      comparePrice({ ...CALL, carrierSeconds }).isDurationOff;
    expect([54, 55, 65, 66, null].map(off)).toEqual([true, false, false, true, false]);
  });

  it('trips a wire for each way in which the record departs from the bill, and none where it agrees', () => {
    const trips = (call: Parameters<typeof comparePrice>[0]) =>
      tripwiresOf(call, comparePrice(call)).map(({ tripwire }) => tripwire);
    expect(trips({ ...CALL, carrierSeconds: 60 })).toEqual([]);
    expect(trips({ ...CALL, carrierSeconds: null, carrierPriceRaw: 20_000n })).toEqual([
      'carrier_price',
    ]);
    expect(trips({ ...CALL, carrierSeconds: 70 })).toEqual(['carrier_duration']);
    expect(trips({ ...CALL, carrierSeconds: 70, carrierPriceRaw: 20_000n })).toHaveLength(2);
  });

  it('is asked for ever more rarely, and no more after a day', () => {
    let ageMs = 60_000;
    const waits: number[] = [];
    for (let wait = nextAskMs(ageMs); wait !== undefined; wait = nextAskMs(ageMs)) {
      waits.push(wait);
      ageMs += wait;
    }
    expect(waits).toEqual([...waits].sort((a, b) => a - b));
    expect(waits[0]).toBe(60_000);
    expect(waits.length).toBeLessThan(25);
    expect(ageMs).toBeGreaterThanOrEqual(86_400_000);
  });
});
