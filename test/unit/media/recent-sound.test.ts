import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HEARING_FRAME, HEARING_HZ, HEARING_WINDOW } from '../../../media/hearing.ts';
import { RecentSound } from '../../../media/recent-sound.ts';
import { Resampler } from '../../../media/resample.ts';
import { noise } from './noise.ts';

/** 20 ms of a ramp, so that a sample tells its own place. */
const rampFrame = (frame: number) =>
  Int16Array.from({ length: 320 }, (_, i) => (frame * 320 + i) % 30_000);

/** Takes a frame that is wanted as those before it were. */
const push = (windows: RecentSound, frame: number) => {
  windows.push(rampFrame(frame));
  windows.catchUp();
};

describe('the windows for the model', () => {
  it('the model’s sound windows follow each other without a gap while they are fetched', () => {
    const windows = new RecentSound();
    const target = new Int16Array(HEARING_WINDOW);
    let expectedEndMs = 32;
    for (let frame = 0; frame < 80; frame++) {
      push(windows, frame);
      for (let end = windows.pull(target); end !== undefined; end = windows.pull(target)) {
        expect(end).toBe(expectedEndMs);
        expect(target[0]).toBe(((end - 32) * 16) % 30_000);
        expectedEndMs += 32;
      }
    }
    expect(expectedEndMs).toBeGreaterThan(1_590);
    expect(windows.skippedSamples).toBe(0);
  });

  it('the model’s sound windows begin 128 ms before the request, after any silence', () => {
    fc.assert(
      fc.property(fc.integer({ min: 7, max: 400 }), (silentFrames) => {
        const windows = new RecentSound();
        const target = new Int16Array(HEARING_WINDOW);
        for (let frame = 0; frame <= silentFrames; frame++) windows.push(rampFrame(frame));
        windows.lookBack();
        expect(windows.pull(target)).toBe(silentFrames * 20 - 128 + 32);
        expect(windows.skippedSamples).toBe(0);
      }),
    );
  });

  it('the model’s sound windows skip sound that a slow model has not fetched within 256 ms, and count it', () => {
    const windows = new RecentSound();
    const target = new Int16Array(HEARING_WINDOW);
    for (let frame = 0; frame < 100; frame++) push(windows, frame);
    expect(windows.skippedSamples).toBe(100 * 320 - 4_096);
    expect(windows.pull(target)).toBe(2_000 - 256 + 32);
    expect(() => windows.pull(new Int16Array(10))).toThrow(RangeError);
  });

  it('RecentSound gives back the newest samples, as far as they are kept', () => {
    fc.assert(
      fc.property(
        fc.nat(40),
        fc.integer({ min: 0, max: 8_000 }),
        fc.nat(9_000),
        (frames, keepSamples, samples) => {
          const windows = new RecentSound({ keepSamples });
          for (let frame = 0; frame < frames; frame++) push(windows, frame);
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

describe('the sound of a telephone', () => {
  const LINE_FRAME = 160;
  const line = noise(120 * LINE_FRAME, 8_000);
  /** As a stream that is resampled from its first sample on, after a silent line, gives it: 1.5 ms later. */
  const heard = (() => {
    const resampler = new Resampler(8_000, HEARING_HZ);
    const all = new Int16Array(HEARING_FRAME + 2 * line.length);
    const before = resampler.push(new Int16Array(LINE_FRAME), all);
    const known = before + resampler.push(line, all.subarray(before));
    return all.subarray(known - 2 * line.length, known);
  })();
  const pushed = (sound: RecentSound, from: number, to: number) => {
    for (let frame = from; frame < to; frame++) {
      sound.push(line.subarray(frame * LINE_FRAME, (frame + 1) * LINE_FRAME));
    }
  };

  it('telephone sound is resampled sample for sample as a whole, whichever part is requested', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 120 }),
        fc.integer({ min: 0, max: 32 }),
        (frames, lead) => {
          const keepSamples = lead * HEARING_FRAME;
          const sound = new RecentSound({ lineHz: 8_000, keepSamples });
          pushed(sound, 0, frames);
          const end = frames * HEARING_FRAME;
          for (const asked of [HEARING_FRAME, keepSamples]) {
            const samples = Math.min(asked, end);
            expect([...sound.newest(samples)]).toEqual([...heard.subarray(end - samples, end)]);
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it('telephone sound gives the model whole windows without a gap, from 128 ms before the request', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 60 }), (silentFrames) => {
        const sound = new RecentSound({ lineHz: 8_000 });
        const target = new Int16Array(HEARING_WINDOW);
        pushed(sound, 0, silentFrames);
        let at = Math.max(0, silentFrames * HEARING_FRAME - 2_048);
        for (let frame = silentFrames; frame < 120; frame++) {
          pushed(sound, frame, frame + 1);
          if (frame === silentFrames) sound.lookBack();
          else sound.catchUp();
          for (let end = sound.pull(target); end !== undefined; end = sound.pull(target)) {
            expect(end * 16).toBe(at + HEARING_WINDOW);
            expect([...target]).toEqual([...heard.subarray(at, at + HEARING_WINDOW)]);
            at += HEARING_WINDOW;
          }
        }
        expect(at).toBeGreaterThan(118 * HEARING_FRAME);
      }),
      { numRuns: 20 },
    );
  });

  it('a request for half a sample of telephone sound is refused', () => {
    const sound = new RecentSound({ lineHz: 8_000 });
    pushed(sound, 0, 4);
    expect(() => sound.newest(3)).toThrow(RangeError);
  });
});
