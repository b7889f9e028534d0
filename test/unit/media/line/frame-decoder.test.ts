import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HEARING_FRAME } from '../../../../media/hearing.ts';
import { FrameDecoder } from '../../../../media/line/frame-decoder.ts';
import { bytesOf, tone } from '../../../support/voice-fakes.ts';

function framesOf(bytes: Uint8Array, cuts: readonly number[], sampleRateHz: number): number[][] {
  const frames: number[][] = [];
  const decoder = new FrameDecoder({
    encoding: 'linear16',
    sampleRateHz,
    listener: { frame: (frame) => void frames.push([...frame]) },
  });
  let at = 0;
  for (const cut of cuts) {
    decoder.push(bytes.subarray(at, at + cut));
    at += cut;
  }
  decoder.push(bytes.subarray(at));
  decoder.flush();
  return frames;
}

describe('FrameDecoder', () => {
  it('FrameDecoder makes the same frames however the bytes are cut', () => {
    const bytes = bytesOf(tone(180, 24_000));
    const whole = framesOf(bytes, [], 24_000);
    expect(whole).toHaveLength(9);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 999 }), { maxLength: 12 }), (cuts) => {
        expect(framesOf(bytes, cuts, 24_000)).toEqual(whole);
      }),
      { numRuns: 30 },
    );
  });

  it('FrameDecoder makes 20 ms frames at 16 kHz from every rate but 8 kHz, and fills the last frame with silence', () => {
    for (const rate of [8_000, 11_025, 16_000, 48_000]) {
      const frames = framesOf(bytesOf(tone(90, rate)), [], rate);
      const samples = rate === 8_000 ? HEARING_FRAME / 2 : HEARING_FRAME;
      expect(frames.map(({ length }) => length)).toEqual(Array(5).fill(samples));
      expect(frames[4]?.at(-1)).toBe(0);
    }
  });

  it('FrameDecoder completes every frame as soon as its 20 ms have come, at every rate', () => {
    for (const sampleRateHz of [8_000, 16_000, 24_000, 48_000]) {
      let frames = 0;
      const decoder = new FrameDecoder({
        encoding: 'linear16',
        sampleRateHz,
        listener: { frame: () => void frames++ },
      });
      const sent = bytesOf(tone(200, sampleRateHz));
      const step = sent.length / 10;
      for (let i = 1; i <= 10; i++) {
        decoder.push(sent.subarray((i - 1) * step, i * step));
        expect(frames, `${sampleRateHz} Hz`).toBe(i);
      }
      decoder.flush();
      expect(frames).toBe(10);
    }
  });
});
