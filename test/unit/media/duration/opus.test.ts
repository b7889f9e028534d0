import { describe, expect, it } from 'vitest';
import { opusSamples } from '../../../../media/duration/opus.ts';

describe('a packet of Opus', () => {
  it.each([
    ['SILK, 10 ms', 0x00, 0, 480],
    ['SILK, 60 ms, twice', 0x19, 0, 5_760],
    ['hybrid, 20 ms', 0x68, 0, 960],
    ['CELT, 2.5 ms', 0x80, 0, 120],
    ['CELT, 20 ms, three times', 0x9b, 3, 2_880],
    ['more than there can be', 0x1b, 63, 5_760],
    ['none at all', 0x9b, 0, 0],
  ])('an Opus packet lasts as long as its first bytes say: %s', (_, first, second, samples) => {
    expect(opusSamples(first, second)).toBe(samples);
  });
});
