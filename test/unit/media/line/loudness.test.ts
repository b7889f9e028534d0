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

it('finds speech loud, and silence and the noise of a line not', () => {
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
