import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HEARING_WINDOW } from '../../../media/hearing.ts';
import { VadWindows } from '../../../media/vad-windows.ts';

/** 20 ms of a ramp, so that a sample tells its own place. */
const rampFrame = (frame: number) =>
  Int16Array.from({ length: 320 }, (_, i) => (frame * 320 + i) % 30_000);

const push = (windows: VadWindows, frame: number, isWanted: boolean) => {
  windows.push(rampFrame(frame));
  windows.want(isWanted);
};

describe('the windows for the model', () => {
  it('follow each other without a gap while they are wanted and fetched', () => {
    const windows = new VadWindows();
    const target = new Int16Array(HEARING_WINDOW);
    let expectedEndMs = 32;
    for (let frame = 0; frame < 80; frame++) {
      push(windows, frame, true);
      for (let end = windows.pull(target); end !== undefined; end = windows.pull(target)) {
        expect(end).toBe(expectedEndMs);
        expect(target[0]).toBe(((end - 32) * 16) % 30_000);
        expectedEndMs += 32;
      }
    }
    expect(expectedEndMs).toBeGreaterThan(1_590);
    expect(windows.skippedSamples).toBe(0);
  });

  it('begin 128 ms before they were wanted, after any silence', () => {
    fc.assert(
      fc.property(fc.integer({ min: 7, max: 400 }), (silentFrames) => {
        const windows = new VadWindows();
        const target = new Int16Array(HEARING_WINDOW);
        for (let frame = 0; frame < silentFrames; frame++) push(windows, frame, false);
        push(windows, silentFrames, true);
        expect(windows.pull(target)).toBe(silentFrames * 20 - 128 + 32);
        expect(windows.skippedSamples).toBe(0);
      }),
    );
  });

  it('skip what a slow model has not fetched within 256 ms, and count it', () => {
    const windows = new VadWindows();
    const target = new Int16Array(HEARING_WINDOW);
    for (let frame = 0; frame < 100; frame++) push(windows, frame, true);
    expect(windows.skippedSamples).toBe(100 * 320 - 4_096);
    expect(windows.pull(target)).toBe(2_000 - 256 + 32);
    expect(() => windows.pull(new Int16Array(10))).toThrow(RangeError);
  });

  it('give back what came last, as long as it is kept', () => {
    fc.assert(
      fc.property(
        fc.nat(40),
        fc.integer({ min: 0, max: 8_000 }),
        fc.nat(9_000),
        (frames, keepSamples, samples) => {
          const windows = new VadWindows({ keepSamples });
          for (let frame = 0; frame < frames; frame++) push(windows, frame, true);
          const kept = Math.min(frames * 320, Math.max(keepSamples, 4_096));
          if (samples > kept) {
            expect(() => windows.newest(samples)).toThrow(RangeError);
            return;
          }
          const all = Array.from({ length: frames }, (_, frame) => [...rampFrame(frame)]).flat();
          expect([...windows.newest(samples)]).toEqual(all.slice(all.length - samples));
        },
      ),
    );
  });
});
