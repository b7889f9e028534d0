import { describe, expect, it } from 'vitest';
import { adtsDuration, readAdtsFrame } from '../../../../media/duration/adts.ts';
import { adtsFile, adtsFrame } from '../../../support/sound-files.ts';

describe('the duration of an AAC file', () => {
  it('the duration of an AAC file is that of its frames', async () => {
    expect(await adtsDuration(adtsFile(125))).toEqual({ kind: 'measured', durationMs: 8_000 });
  });

  it('the duration of an AAC file counts several blocks in one frame', async () => {
    const frame = adtsFrame();
    frame[6] = 0xff;
    expect(readAdtsFrame(frame, 0)).toEqual({ bytes: 9, samples: 4_096, sampleRateHz: 16_000 });
  });

  it('the duration of an AAC file ignores a frame without a rate, of another layer, without a length or cut short', async () => {
    const changed = (at: number, byte: number) => {
      const frame = adtsFrame();
      frame[at] = byte;
      return readAdtsFrame(frame, 0);
    };
    expect([changed(2, 0x7c), changed(1, 0xfb), changed(4, 0), changed(4, 0xff)]).toEqual(
      Array(4).fill(undefined),
    );
  });
});
