import { expect, it } from 'vitest';
import { readAacConfig } from '../../../../media/coded/aac-config.ts';

const config = (hex: string) => readAacConfig(Buffer.from(hex, 'hex'));

it('an AAC configuration of low complexity gives its rate and channels, also with extensions on top', () => {
  expect(config('1210')).toEqual({ rateHz: 44_100, channels: 2 });
  expect(config('1408')).toEqual({ rateHz: 16_000, channels: 1 });
  // With spectral band replication (5) and parametric stereo (29) on top, and a rate that is written out.
  expect(config('2b8a0800')).toEqual({ rateHz: 22_050, channels: 1 });
  expect(config('eb8a0800')).toEqual({ rateHz: 22_050, channels: 1 });
  expect(config('17803e8008')).toEqual({ rateHz: 32_000, channels: 1 });
});

it('an AAC configuration of another kind, with a rate that no frame header has, or cut short is not read', () => {
  // Main, low delay (23), USAC (42), frames of 960 samples, no channels, 44,101 Hz, nothing.
  for (const hex of ['0a10', 'ba10', 'f95410', '1214', '1200', '178056228810', '']) {
    expect(config(hex)).toBeUndefined();
  }
});
