import { describe, expect, it } from 'vitest';
import { adtsFrame } from '../../../media/adts.ts';
import { readAdtsFrame } from '../../../media/duration/adts.ts';

describe('an ADTS frame', () => {
  it.each([1, 249, 2_041, 8_000])(
    'an ADTS frame tells its %i bytes, its rate and its samples',
    (bytes) => {
      const frame = Buffer.from(adtsFrame(new Uint8Array(bytes), 24_000));
      expect(readAdtsFrame(frame, 0)).toEqual({
        bytes: bytes + 7,
        samples: 1_024,
        sampleRateHz: 24_000,
      });
    },
  );

  it('an ADTS frame is written as mono AAC of low complexity, without a checksum', () => {
    const head = adtsFrame(new Uint8Array(3), 24_000).subarray(0, 7);
    expect(Buffer.from(head).toString('hex')).toBe('fff15840015ffc');
  });

  it('an ADTS frame with a rate that the format does not number is refused', () => {
    expect(() => adtsFrame(new Uint8Array(1), 23_999)).toThrow(RangeError);
  });
});
