import { expect, it } from 'vitest';
import { Loudness } from '../../../../media/line/loudness.ts';
import { encodeMulaw } from '../../../../media/mulaw.ts';

const piece = (level: number) => {
  const bytes = new Uint8Array(160);
  encodeMulaw(
    Int16Array.from({ length: 160 }, (_, i) => (i % 2 === 0 ? level : -level)),
    bytes,
  );
  return bytes;
};

it('Loudness finds speech loud, and silence and line noise not loud', () => {
  const loudness = new Loudness({ encoding: 'mulaw', sampleRateHz: 8_000 });
  expect([0, 100, 300, 1_000, 20_000].map((level) => loudness.isLoud(piece(level)))).toEqual([
    false,
    false,
    false,
    true,
    true,
  ]);
  expect(loudness.isLoud(new Uint8Array(0))).toBe(false);
});

/** A tone as a telephone line carries it. */
const toneOf = (hz: number, level: number) => {
  const bytes = new Uint8Array(160);
  encodeMulaw(
    Int16Array.from({ length: 160 }, (_, i) => level * Math.sin((2 * Math.PI * hz * i) / 8_000)),
    bytes,
  );
  return bytes;
};

it('Loudness finds a sound as sharp as an "s" sharp, but no vowel, hum or line noise', () => {
  const loudness = new Loudness({ encoding: 'mulaw', sampleRateHz: 8_000 });
  const isSharp = (bytes: Uint8Array) => {
    loudness.isLoud(bytes);
    return loudness.isSharp;
  };
  expect([250, 700, 1_100].map((hz) => isSharp(toneOf(hz, 3_000)))).toEqual([false, false, false]);
  expect([1_500, 3_000].map((hz) => isSharp(toneOf(hz, 300)))).toEqual([true, true]);
  expect(isSharp(toneOf(3_000, 100))).toBe(false);
  expect(isSharp(new Uint8Array(0))).toBe(false);
});

it('Loudness judges a sharp sound the same at twice the rate', () => {
  const loudness = new Loudness({ encoding: 'linear16', sampleRateHz: 16_000 });
  const sharp = [1_000, 1_500].map((hz) => {
    const pcm = Int16Array.from({ length: 320 }, (_, i) =>
      Math.round(3_000 * Math.sin((2 * Math.PI * hz * i) / 16_000)),
    );
    loudness.isLoud(new Uint8Array(pcm.buffer));
    return loudness.isSharp;
  });
  expect(sharp).toEqual([false, true]);
});
