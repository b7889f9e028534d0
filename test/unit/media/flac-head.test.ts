import { describe, expect, it } from 'vitest';
import { writeFlacSamples } from '../../../media/flac-head.ts';

describe('the head of a FLAC file', () => {
  it.each([120_000, 2 ** 32 + 5])(
    'a FLAC header takes a count of %i samples and keeps its other fields',
    (samples) => {
      const file = Buffer.alloc(42);
      file.writeUInt32BE(0x05dc_00f0, 18);
      writeFlacSamples(file.subarray(0), samples);
      expect(file.readUIntBE(18, 3)).toBe(0x05_dc00);
      expect((file[21] ?? 0) >> 4).toBe(0xf);
      const told = ((file[21] ?? 0) & 15) * 2 ** 32 + file.readUInt32BE(22);
      expect(told).toBe(samples);
    },
  );
});
