import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Resampler } from '../../../media/resample.ts';
import { compareToTone, levelDb, tone } from './tone.ts';

const COMMON_RATES = [8_000, 16_000, 24_000, 48_000];
const COMMON_PAIRS = COMMON_RATES.flatMap((from) => COMMON_RATES.map((to) => [from, to] as const));
/** Rates that clients do send; the last two have no small ratio to 16 kHz. */
const ODD_RATES = [11_025, 12_000, 22_050, 32_000, 44_100, 44_101, 8_001];
const PAIRS = [...COMMON_PAIRS, ...ODD_RATES.map((from) => [from, 16_000] as const)].filter(
  ([from, to]) => from !== to,
);

function convert(input: Int16Array, from: number, to: number): Int16Array {
  const resampler = new Resampler(from, to);
  const first = new Int16Array(resampler.outputSamples(input.length));
  resampler.push(input, first);
  const rest = new Int16Array(resampler.outputSamples(resampler.lookaheadSamples));
  resampler.flush(rest);
  return Int16Array.of(...first, ...rest);
}

describe('the resampler', () => {
  it.each(PAIRS)(
    'the resampler keeps tones below 82 % of the narrower band clean: %i to %i Hz',
    (from, to) => {
      const nyquist = Math.min(from, to) / 2;
      for (const share of [0.05, 0.25, 0.5, 0.75, 0.82]) {
        const hz = Math.round(nyquist * share);
        const heard = compareToTone(convert(tone(hz, from, from / 2), from, to), hz, to);
        expect(heard.snrDb, `${hz} Hz: noise`).toBeGreaterThan(68);
        expect(Math.abs(heard.gainDb), `${hz} Hz: gain`).toBeLessThan(0.02);
        expect(Math.abs(heard.shiftUs), `${hz} Hz: shift`).toBeLessThan(0.5);
      }
    },
  );

  it.each(PAIRS)(
    'the resampler falls off gently towards the band edge: %i to %i Hz',
    (from, to) => {
      const gainAt = (share: number) => {
        const hz = (Math.min(from, to) / 2) * share;
        return compareToTone(convert(tone(hz, from, from / 2), from, to), hz, to).gainDb;
      };
      expect(gainAt(0.85)).toBeGreaterThan(-0.06);
      expect(gainAt(0.9)).toBeGreaterThan(-0.7);
    },
  );

  it.each(PAIRS)(
    'the resampler has more than 72 dB between a tone of 1 kHz and all noise: %i to %i Hz',
    (from, to) => {
      const heard = compareToTone(convert(tone(1_000, from, from), from, to), 1_000, to);
      expect(heard.snrDb).toBeGreaterThan(72);
    },
  );

  it.each(PAIRS.filter(([from, to]) => from > to))(
    'the resampler lets no sound above the band alias into speech: %i to %i Hz',
    (from, to) => {
      const levelAt = (hz: number) => levelDb(convert(tone(hz, from, from / 4), from, to));
      // What lies right above the edge folds to right below it: this much is let through.
      expect(levelAt((to / 2) * 1.1)).toBeLessThan(-23);
      expect(levelAt((to / 2) * 1.15)).toBeLessThan(-43);
      for (const share of [1.2, 1.3, 1.6, 1.9, 2.5]) {
        const hz = (to / 2) * share;
        if (hz < (from / 2) * 0.98) expect(levelAt(hz), `${hz} Hz`).toBeLessThan(-65);
      }
    },
  );

  it('the resampler gives the same samples however the input is cut', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...PAIRS, [48_000, 8_001] as const, [16_000, 16_000] as const),
        fc.int16Array({ minLength: 1, maxLength: 1_500 }),
        fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 8 }),
        ([from, to], input, cuts) => {
          const whole = convert(input, from, to);
          const resampler = new Resampler(from, to);
          const pieces: number[] = [];
          for (let at = 0, turn = 0; at < input.length; turn++) {
            // Every round of cuts ends with one sample, so that the input does end.
            const cut =
              turn % (cuts.length + 1) === cuts.length
                ? 1
                : (cuts[turn % (cuts.length + 1)] as number);
            const piece = input.subarray(at, at + cut);
            const target = new Int16Array(resampler.outputSamples(piece.length));
            expect(resampler.push(piece, target)).toBe(target.length);
            pieces.push(...target);
            at += piece.length;
          }
          const rest = new Int16Array(resampler.outputSamples(resampler.lookaheadSamples));
          resampler.flush(rest);
          expect(Int16Array.of(...pieces, ...rest)).toEqual(whole);
        },
      ),
    );
  });

  it('the resampler gives exactly one sample for each output instant of the input', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 8_000, max: 48_000 }),
        fc.integer({ min: 8_000, max: 48_000 }),
        fc.integer({ min: 0, max: 900 }),
        (from, to, samples) => {
          const heard = convert(new Int16Array(samples), from, to);
          expect(heard.length).toBe(Math.ceil((samples * to) / from));
        },
      ),
      { numRuns: 60 },
    );
  });

  it('the resampler passes a constant unchanged, and clips instead of wrapping', () => {
    for (const [from, to] of PAIRS) {
      const steady = convert(new Int16Array(2_000).fill(12_345), from, to);
      const middle = steady.subarray(steady.length / 4, (steady.length * 3) / 4);
      expect(middle.every((sample) => sample === 12_345)).toBe(true);
    }
    const square = Int16Array.from({ length: 800 }, (_, i) => (i % 40 < 20 ? 32_767 : -32_768));
    const heard = convert(square, 8_000, 24_000);
    for (let i = 60; i < heard.length - 60; i++) {
      const wrapped = Math.abs((heard[i] as number) - (heard[i - 1] as number)) > 50_000;
      expect(wrapped).toBe(false);
    }
  });

  it('the resampler starts afresh after a flush', () => {
    const resampler = new Resampler(24_000, 8_000);
    const once = new Int16Array(2_000);
    const again = new Int16Array(2_000);
    const sound = tone(700, 24_000, 2_400);
    for (const target of [once, again]) {
      const written = resampler.push(sound, target);
      resampler.flush(target.subarray(written));
    }
    expect(again).toEqual(once);
  });

  it('the resampler refuses rates it cannot serve and targets that are too short', () => {
    for (const rate of [0, 7_999, 48_001, 16_000.5, Number.NaN]) {
      expect(() => new Resampler(rate, 16_000)).toThrow(/whole rate from 8000 to 48000/);
      expect(() => new Resampler(16_000, rate)).toThrow(RangeError);
    }
    const resampler = new Resampler(8_000, 16_000);
    expect(() => resampler.push(new Int16Array(160), new Int16Array(100))).toThrow(RangeError);
    const same = new Resampler(8_000, 8_000);
    const target = new Int16Array(3);
    expect(same.push(Int16Array.of(1, 2, 3), target)).toBe(3);
    expect([...target]).toEqual([1, 2, 3]);
    expect(same.flush(target)).toBe(0);
  });
});
