import { describe, expect, it } from 'vitest';
import { monoBlocks, parseWavSound, type WavSound } from '../../../media/wav-sound.ts';
import { wavFile } from '../../support/sound-files.ts';

function sound(file: Buffer): WavSound {
  const wav = parseWavSound(file);
  if (wav.kind === 'refused') throw new Error(wav.reason);
  return wav;
}

const samplesOf = (file: Buffer, block = 2) =>
  [...monoBlocks(sound(file), block)].flatMap((part) => [...part]);

/** Half of full scale, and its negative, in each coding. */
const CODINGS: readonly (readonly [string, number, number, string])[] = [
  ['8 bits without a sign', 1, 8, 'c040'],
  ['16 bits', 1, 16, '004000c0'],
  ['24 bits', 1, 24, '0000400000c0'],
  ['32 bits', 1, 32, '00000040000000c0'],
  ['floats', 3, 32, '0000003f000000bf'],
  ['long floats', 3, 64, '000000000000e03f000000000000e0bf'],
];

describe('the sound of a WAV file', () => {
  it.each(CODINGS)('the sound of a WAV file is read from %s', (_, tag, bits, hex) => {
    const file = wavFile({ tag, bits, data: Buffer.from(hex, 'hex') });
    expect(samplesOf(file)).toEqual([16_384, -16_384]);
  });

  it('the sound of a WAV file is read from mu-law and A-law', () => {
    expect(samplesOf(wavFile({ tag: 7, bits: 8, data: Buffer.from([0xff, 0x80]) }))).toEqual([
      0, 32_124,
    ]);
    expect(samplesOf(wavFile({ tag: 6, bits: 8, data: Buffer.from([0xd5]) }))).toEqual([8]);
  });

  it('the sound of a WAV file is mixed down to mono, wherever the blocks are cut', () => {
    const data = Buffer.from(new Int16Array([100, 200, 300, -10, -20, -30, 1, 2, 3]).buffer);
    for (const block of [1, 2, 100]) {
      expect(samplesOf(wavFile({ channels: 3, data }), block)).toEqual([200, -20, 2]);
    }
  });

  it('the sound of a WAV file without a valid header is refused with a reason', () => {
    const data = new Uint8Array(4);
    const reasons = [
      wavFile({ tag: 2, bits: 4, data }),
      wavFile({ channels: 0, data }),
      wavFile({ channels: 33, data }),
      wavFile({ rateHz: 999, data }),
      wavFile({ rateHz: 400_000, data }),
      wavFile({ data }).subarray(0, 30),
      wavFile({ data }).subarray(0, 36),
      Buffer.from('nothing'),
    ].map((file) => {
      const wav = parseWavSound(file);
      return wav.kind === 'refused' ? wav.reason : 'parsed';
    });
    expect(reasons).not.toContain('parsed');
    expect(new Set(reasons).size).toBeGreaterThan(5);
  });
});
