import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JitterBuffer } from '../../../media/jitter-buffer.ts';

const SIZE = 4;
const frameOf = (value: number) => new Int16Array(SIZE).fill(value);
const bufferOf = (depthFrames: number, capacityFrames = 16) =>
  new JitterBuffer({ frameSamples: SIZE, capacityFrames, depthFrames });

/** Pulls `times` frames: the value of each, or what became of it. */
function pulls(buffer: JitterBuffer, times: number): (number | string)[] {
  const target = new Int16Array(SIZE);
  return Array.from({ length: times }, () => {
    const departure = buffer.pull(target);
    return departure === 'frame' ? (target[0] as number) : departure;
  });
}

describe('the jitter buffer', () => {
  it('the jitter buffer restores the order of frames that were moved by less than its depth', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 60 }), (delays) => {
        const arrivals = delays
          .map((delay, place) => ({ place, at: place + delay }))
          .sort((a, b) => a.at - b.at || a.place - b.place);
        const buffer = bufferOf(4);
        const heard: number[] = [];
        const target = new Int16Array(SIZE);
        for (const { place } of arrivals) {
          expect(buffer.push(place, frameOf(place + 1))).toBe('kept');
          if (buffer.pull(target) === 'frame') heard.push(target[0] as number);
        }
        for (let i = 0; i < 40; i++) {
          if (buffer.pull(target) === 'frame') heard.push(target[0] as number);
        }
        expect(heard).toEqual(delays.map((_, place) => place + 1));
        expect(buffer.counters.concealed).toBe(0);
      }),
    );
  });

  it('the jitter buffer waits for its depth, then plays, and gives nothing when empty', () => {
    const buffer = bufferOf(2);
    expect(pulls(buffer, 5)).toEqual(Array(5).fill('waiting'));
    buffer.push(0, frameOf(1));
    expect(pulls(buffer, 1)).toEqual(['waiting']);
    buffer.push(1, frameOf(2));
    expect(pulls(buffer, 3)).toEqual([1, 2, 'waiting']);
  });

  it('the jitter buffer delays the last frames of a stream by its depth at most', () => {
    const buffer = bufferOf(3);
    buffer.push(0, frameOf(1));
    expect(pulls(buffer, 4)).toEqual(['waiting', 'waiting', 'waiting', 1]);
    buffer.push(2, frameOf(3));
    expect(pulls(buffer, 5)).toEqual(['waiting', 'waiting', 'waiting', 'concealed', 3]);
  });

  it('the jitter buffer fills a lost frame with the last one, fading to silence, and counts the loss', () => {
    const buffer = bufferOf(1);
    buffer.push(0, frameOf(800));
    buffer.push(6, frameOf(5));
    const target = new Int16Array(SIZE);
    const heard = Array.from({ length: 7 }, () => {
      buffer.pull(target);
      return target[0];
    });
    expect(heard).toEqual([800, 400, 200, 100, 0, 0, 5]);
    expect(buffer.counters.concealed).toBe(5);
  });

  it('the jitter buffer drops late, duplicate and malformed frames, each under its own counter', () => {
    const buffer = bufferOf(1);
    buffer.push(5, frameOf(1));
    expect(pulls(buffer, 1)).toEqual([1]);
    expect(buffer.push(5, frameOf(9))).toBe('late');
    expect(buffer.push(6, frameOf(2))).toBe('kept');
    expect(buffer.push(6, frameOf(9))).toBe('duplicate');
    expect(buffer.push(-1, frameOf(9))).toBe('malformed');
    expect(buffer.push(1.5, frameOf(9))).toBe('malformed');
    expect(buffer.push(7, new Int16Array(3))).toBe('malformed');
    expect(buffer.counters).toMatchObject({ late: 1, duplicate: 1, malformed: 3 });
    expect(pulls(buffer, 1)).toEqual([2]);
  });

  it('the jitter buffer orders frames that arrive out of order before playing began', () => {
    const buffer = bufferOf(3);
    for (const place of [11, 12, 10]) buffer.push(place, frameOf(place));
    expect(pulls(buffer, 3)).toEqual([10, 11, 12]);
  });

  it('the jitter buffer skips ahead to a frame beyond its reach, and follows frame numbers that start again', () => {
    const buffer = bufferOf(1, 4);
    buffer.push(0, frameOf(1));
    buffer.push(1_000, frameOf(2));
    expect(buffer.bufferedFrames).toBe(1);
    expect(buffer.counters.skipped).toBe(997);
    expect(pulls(buffer, 4)).toEqual(['concealed', 'concealed', 'concealed', 2]);

    const arrivals = [0, 1, 2, 3, 4].map((place) => buffer.push(place, frameOf(place)));
    expect(arrivals).toEqual(['late', 'late', 'late', 'kept', 'kept']);
    expect(pulls(buffer, 2)).toEqual([3, 4]);
    expect(buffer.counters.restarts).toBe(1);
  });

  it('the jitter buffer holds no more than its capacity, whatever arrives', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.oneof(fc.nat({ max: 60 }), fc.maxSafeNat()), fc.boolean()), {
          maxLength: 80,
        }),
        (steps) => {
          const buffer = bufferOf(2, 8);
          const target = new Int16Array(SIZE);
          for (const [place, pull] of steps) {
            buffer.push(place, frameOf(1));
            if (pull) buffer.pull(target);
            expect(buffer.bufferedFrames).toBeGreaterThanOrEqual(0);
            expect(buffer.bufferedFrames).toBeLessThanOrEqual(8);
          }
          // Everything that was kept comes out within a bounded number of pulls.
          for (let i = 0; i < 40; i++) buffer.pull(target);
          expect(buffer.bufferedFrames).toBe(0);
        },
      ),
    );
  });
});
