import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { priceRaw, type Usage } from '../../../../src/kernel/price.ts';
import { AudioMeter } from '../../../../src/voice/billing/voice-meter.ts';

const SLICE_SECONDS = 10;
const RATES = { audio_second: 11_111_112n };
const price = (usage: Usage) => priceRaw(usage, RATES, 500);
const meterOf = (bytesPerSecond: number) =>
  new AudioMeter({ bytesPerSecond, sliceSeconds: 10, price });

describe('AudioMeter', () => {
  it('AudioMeter admits the audio that is held, to the byte, and nothing beyond', () => {
    const meter = meterOf(16_000);
    expect(meter.admit(100_000)).toBe(100_000);
    expect(meter.admit(100_000)).toBe(60_000);
    expect([meter.isSpent, meter.admit(2)]).toEqual([true, 0]);
    meter.grant(SLICE_SECONDS);
    expect([meter.isSpent, meter.admit(2)]).toEqual([false, 2]);
  });

  it('AudioMeter asks for the next slice when less than half of a slice is left', () => {
    const meter = meterOf(16_000);
    meter.admit(80_000);
    expect(meter.isLow).toBe(false);
    meter.admit(1);
    expect(meter.isLow).toBe(true);
  });

  it('AudioMeter bills amounts that add up to the price of the whole, within what is held', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(8_000, 16_000, 32_000, 96_000),
        fc.array(fc.integer({ min: 1, max: 2_000_000 }), { minLength: 1, maxLength: 30 }),
        (bytesPerSecond, pieces) => {
          const meter = meterOf(bytesPerSecond);
          let used = 0;
          let billedRaw = 0n;
          let heldRaw = price({ audio_second: 10 });
          for (const [index, piece] of pieces.entries()) {
            used += meter.admit(piece);
            meter.hearUpTo(index % 2 === 0 ? Number.POSITIVE_INFINITY : index);
            if (index % 3 === 0) billedRaw += meter.takeBill()?.costRaw ?? 0n;
            if (meter.isSpent) {
              meter.grant(SLICE_SECONDS);
              heldRaw += price({ audio_second: 10 });
            }
          }
          meter.hearUpTo(Number.POSITIVE_INFINITY);
          billedRaw += meter.takeBill()?.costRaw ?? 0n;
          const seconds = Math.round((used / bytesPerSecond) * 1_000) / 1_000;
          expect(billedRaw).toBe(price({ audio_second: seconds }));
          expect(billedRaw <= heldRaw).toBe(true);
          expect(meter.takeBill()).toBeUndefined();
        },
      ),
    );
  });

  it('AudioMeter bills the audio that was reported as heard, never more than came and never backwards', () => {
    const meter = meterOf(1_000);
    meter.admit(8_000);
    expect([meter.seconds, meter.takeBill()]).toEqual([0, undefined]);
    meter.hearUpTo(3.5);
    expect(meter.takeBill()).toEqual({
      costRaw: price({ audio_second: 3.5 }),
      usage: { audio_second: 3.5 },
    });
    meter.hearUpTo(1);
    expect([meter.seconds, meter.takeBill()]).toEqual([3.5, undefined]);
    meter.hearUpTo(Number.POSITIVE_INFINITY);
    expect(meter.seconds).toBe(8);
    expect(meter.takeBill()).toMatchObject({ usage: { audio_second: 4.5 } });
  });

  it('AudioMeter bills a one-time fee with the first audio, and not again', () => {
    const fee = (usage: Usage) => priceRaw(usage, { request: 2_000_000_000n }, 0);
    const once = { request: 1 };
    const meter = new AudioMeter({ bytesPerSecond: 10, sliceSeconds: 10, price: fee, once });
    expect(meter.takeBill()).toBeUndefined();
    meter.admit(50);
    meter.hearUpTo(5);
    expect(meter.takeBill()).toEqual({ costRaw: 2_000n, usage: { audio_second: 5, request: 1 } });
    meter.admit(50);
    meter.hearUpTo(10);
    expect(meter.takeBill()).toEqual({ costRaw: 0n, usage: { audio_second: 5 } });
  });
});
