import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeAlaw } from '../../../media/alaw.ts';
import { bytesPerSample, SOUND_CODINGS, SoundReader } from '../../../media/coding.ts';
import { encodeMulaw } from '../../../media/mulaw.ts';
import { writePcmBytes } from '../../../media/pcm.ts';

const ENCODE = { linear16: writePcmBytes, mulaw: encodeMulaw, alaw: encodeAlaw };
/** What a coding keeps of a sample near full scale, at worst. */
const LOST = { linear16: 0, mulaw: 700, alaw: 600 };

describe.each(SOUND_CODINGS)('sound as %s', (coding) => {
  it('SoundReader decodes the same samples however the bytes were cut', () => {
    fc.assert(
      fc.property(
        fc.int16Array({ minLength: 1, maxLength: 100 }),
        fc.integer({ min: 1, max: 9 }),
        (sound, cut) => {
          const bytes = new Uint8Array(sound.length * bytesPerSample(coding));
          expect(ENCODE[coding](sound, bytes)).toBe(bytes.length);
          const reader = new SoundReader(coding);
          const heard: number[] = [];
          for (let at = 0; at < bytes.length; at += cut) {
            const piece = bytes.subarray(at, at + cut);
            const target = new Int16Array(reader.samplesIn(piece.length));
            expect(reader.push(piece, target)).toBe(target.length);
            heard.push(...target);
          }
          expect(heard.length).toBe(sound.length);
          for (const [i, sample] of heard.entries()) {
            expect(Math.abs(sample - (sound[i] as number))).toBeLessThanOrEqual(LOST[coding]);
          }
        },
      ),
    );
  });

  it('SoundReader starts afresh after a reset, without the half sample that it had', () => {
    const reader = new SoundReader(coding);
    const target = new Int16Array(2);
    reader.push(Uint8Array.of(1), target);
    reader.reset();
    expect(reader.push(Uint8Array.of(5, 0), target)).toBe(2 / bytesPerSample(coding));
  });
});
