import { describe, expect, it } from 'vitest';
import { decodeMulaw, encodeMulaw } from '../../../../../media/mulaw.ts';
import { loadNoiseSuppressors } from '../../../../../src/engines/noise-suppressor.ts';
import { LineCleaner } from '../../../../../src/phone/voice/noise/line-cleaner.ts';
import { crowdOf } from '../../../../support/crowd.ts';
import { rms } from '../../../../support/rms.ts';
import { LIBRIVOX, loadRecording, overTelephone } from '../../../../support/speech.ts';

const HZ = 8_000;
const suppressors = await loadNoiseSuppressors();

/** A line at the end of this sound: what is left of it, and whether it was taken for music. */
function heard(pcm: Int16Array) {
  const cleaner = new LineCleaner(suppressors, { encoding: 'mulaw', sampleRateHz: HZ });
  const codes = new Uint8Array(pcm.length);
  encodeMulaw(pcm, codes);
  const clean = new Int16Array(pcm.length);
  for (let at = 0; at < codes.length; at += 160) {
    decodeMulaw(cleaner.clean(codes.subarray(at, at + 160)), clean.subarray(at, at + 160));
  }
  const { isMusic } = cleaner;
  cleaner.close();
  return { clean, isMusic };
}

/** The silence that ends a turn, after so much sound. */
const withPause = (pcm: Int16Array): Int16Array => {
  const whole = new Int16Array(pcm.length + 0.3 * HZ);
  whole.set(pcm);
  return whole;
};

/** Six seconds of chords over a bass, as a telephone plays them to who waits. */
function holdMusic(noteSeconds: number, decay: number): Int16Array {
  const notes = [262, 330, 392, 523, 440, 349, 294, 392];
  return Int16Array.from({ length: 6 * HZ }, (_, i) => {
    const t = i / HZ;
    const note = notes[Math.floor(t / noteSeconds) % notes.length] as number;
    const strength = 0.4 + Math.exp(-(t % noteSeconds) * decay);
    const chord = [1, 1.25, 1.5, 2].reduce(
      (sum, m) => sum + Math.sin(2 * Math.PI * note * m * t),
      0,
    );
    return Math.round(1_500 * strength * chord);
  });
}

describe('line cleaner', () => {
  it('LineCleaner returns as many bytes as came, in the encoding of the line, with less noise', () => {
    let state = 1;
    const hiss = Int16Array.from({ length: 6 * HZ }, () => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
      return Math.round((state / 0x7fffffff - 0.5) * 8_000);
    });
    const { clean } = heard(hiss);
    expect(rms(clean.subarray(4 * HZ))).toBeLessThan(rms(hiss) / 10);
  });

  it('LineCleaner does not take a reader who hardly pauses for music', () => {
    for (const { file } of LIBRIVOX) {
      expect(heard(withPause(overTelephone(loadRecording(file)))).isMusic, file).toBe(false);
    }
  });

  it('LineCleaner does not take three readers at once for music', () => {
    for (const second of [4, 7, 10]) {
      expect(heard(crowdOf(second * HZ)).isMusic, `after ${second} s`).toBe(false);
    }
  });

  it('LineCleaner distinguishes hold music from speech, fast and slow', () => {
    for (const [seconds, decay] of [
      [0.25, 4],
      [0.4, 2],
      [0.6, 1],
    ] as const) {
      expect(heard(holdMusic(seconds, decay)).isMusic, `${seconds} s a note`).toBe(true);
    }
  });
});
