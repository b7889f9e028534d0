import { describe, expect, it } from 'vitest';
import {
  comparePrice,
  nextAskMs,
  tripwiresOf,
} from '../../../../src/phone/carrier-prices/compare-price.ts';

const CALL = { chargedRaw: 14_700n, durationSeconds: 60, carrierPriceRaw: 14_000n };

describe('the price of a carrier', () => {
  it("a carrier's price exceeds our charge from one raw unit more on", () => {
    const of = (carrierPriceRaw: bigint) =>
      comparePrice({ ...CALL, carrierPriceRaw, carrierSeconds: 60 });
    expect(of(14_700n)).toEqual({ excessRaw: 0n, isExceeded: false, isDurationOff: false });
    expect(of(14_701n)).toMatchObject({ excessRaw: 1n, isExceeded: true });
    expect(of(0n)).toMatchObject({ excessRaw: -14_700n, isExceeded: false });
  });

  it("a carrier's duration is off when it differs by more than five seconds in either direction", () => {
    const off = (carrierSeconds: number | null) =>
      comparePrice({ ...CALL, carrierSeconds }).isDurationOff;
    expect([54, 55, 65, 66, null].map(off)).toEqual([true, false, false, true, false]);
  });

  it("a carrier's bill trips one tripwire for each difference from our record, and none when both agree", () => {
    const trips = (call: Parameters<typeof comparePrice>[0]) =>
      tripwiresOf(call, comparePrice(call)).map(({ tripwire }) => tripwire);
    expect(trips({ ...CALL, carrierSeconds: 60 })).toEqual([]);
    expect(trips({ ...CALL, carrierSeconds: null, carrierPriceRaw: 20_000n })).toEqual([
      'carrier_price',
    ]);
    expect(trips({ ...CALL, carrierSeconds: 70 })).toEqual(['carrier_duration']);
    expect(trips({ ...CALL, carrierSeconds: 70, carrierPriceRaw: 20_000n })).toHaveLength(2);
  });

  it("a carrier's price is requested at growing intervals, and no more after a day", () => {
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
