import { describe, expect, it } from 'vitest';
import { ArrivalJitter } from '../../../media/arrival-jitter.ts';

describe('ArrivalJitter', () => {
  it('ArrivalJitter is 0 for sound that arrives exactly in real time, however it is cut', () => {
    const jitter = new ArrivalJitter();
    let atMs = 0;
    for (const audioMs of [20, 20, 100, 5, 60]) {
      jitter.arrived(atMs, audioMs);
      atMs += audioMs;
    }
    expect([jitter.smoothMs, jitter.mostMs]).toEqual([0, 0]);
  });

  it('ArrivalJitter approaches a lasting deviation, early or late, and keeps the greatest', () => {
    const jitter = new ArrivalJitter();
    let atMs = 0;
    for (let n = 0; n < 200; n++) {
      jitter.arrived(atMs, 20);
      atMs += n % 2 === 0 ? 28 : 12;
    }
    expect(jitter.smoothMs).toBeCloseTo(8, 3);
    expect(jitter.mostMs).toBe(8);
  });

  it('ArrivalJitter takes a gap in the caller’s sound for a pause, and not for network delay', () => {
    const jitter = new ArrivalJitter();
    jitter.arrived(0, 20);
    jitter.arrived(60_000, 20);
    jitter.arrived(60_020, 20);
    expect([jitter.smoothMs, jitter.mostMs]).toEqual([0, 0]);
  });
});
