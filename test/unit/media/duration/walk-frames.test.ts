import { describe, expect, it } from 'vitest';
import { pastTags, type ReadFrame, walkFrames } from '../../../../media/duration/walk-frames.ts';
import { id3 } from '../../../support/sound-files.ts';

/** `ff n`: a frame of n bytes and as many samples at 1 kHz. */
const readFrame: ReadFrame = (bytes, at) => {
  const size = bytes[at + 1] ?? 0;
  if (bytes[at] !== 0xff || size < 2 || size > 9 || at + size > bytes.length) return undefined;
  return { bytes: size, samples: size, sampleRateHz: 1_000 };
};
const frame = (size: number) => Buffer.concat([Buffer.from([0xff, size]), Buffer.alloc(size - 2)]);
const walk = (...parts: Buffer[]) => walkFrames(Buffer.concat(parts), 'test', readFrame);

describe('walking from frame to frame', () => {
  it('walking from frame to frame adds up the durations of frames, and skips any bytes between and behind them', async () => {
    expect(await walk(frame(3), frame(9))).toEqual({ kind: 'measured', durationMs: 12 });
    expect(
      await walk(frame(3), frame(4), Buffer.from('noise'), frame(5), frame(6), Buffer.from('TAG')),
    ).toEqual({ kind: 'measured', durationMs: 18 });
  });

  it('walking from frame to frame takes two bytes that look like a header for a frame only if another frame follows', async () => {
    expect(await walk(Buffer.from([0xff, 4, 0, 0, 0, 0]), frame(3), frame(3))).toMatchObject({
      durationMs: 6,
    });
  });

  it('walking from frame to frame gives up a file that is mostly something else, and one without a frame', async () => {
    expect(await walk(Buffer.from([0xff, 1]))).toMatchObject({ kind: 'refused' });
    expect(await walk(Buffer.alloc(5 * 1024 * 1024, 0xff), frame(3), frame(3))).toMatchObject({
      kind: 'refused',
    });
  });

  it('walking from frame to frame begins behind all tags of a file', async () => {
    const tags = Buffer.concat([id3(300), id3(7)]);
    expect(pastTags(Buffer.concat([tags, frame(3)]))).toBe(tags.length);
    expect(pastTags(frame(3))).toBe(0);
  });
});
