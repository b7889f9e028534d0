import { describe, expect, it } from 'vitest';
import { mp3Duration, readMp3Frame } from '../../../../media/duration/mp3.ts';
import { mp3File, mp3Frame } from '../../../support/sound-files.ts';

const head = (hex: string) => Buffer.concat([Buffer.from(hex, 'hex'), Buffer.alloc(5_000)]);

describe('the duration of an MP3 file', () => {
  it('the duration of an MP3 file is that of its frames', async () => {
    // 441 * 1152 / 44100 s.
    expect(await mp3Duration(mp3File(441))).toEqual({ kind: 'measured', durationMs: 11_520 });
  });

  it('the duration of an MP3 file ignores the claim of a Xing frame, and the frame itself', async () => {
    const frames = [mp3Frame('Xing\0\0\0\x01\x7f\xff\xff\xff'), mp3File(10)];
    expect(await mp3Duration(Buffer.concat(frames))).toEqual(await mp3Duration(mp3File(10)));
  });

  it('the duration of an MP3 file leaves out a frame that is cut short', async () => {
    const file = mp3File(10);
    expect(await mp3Duration(file.subarray(0, file.length - 1))).toEqual(
      await mp3Duration(mp3File(9)),
    );
  });
});

describe('the header of an MPEG frame', () => {
  it.each([
    ['fffb9000', 417, 1_152, 44_100],
    ['fffb9200', 418, 1_152, 44_100],
    // MPEG 2 layer 3, 64 kbit/s at 22.05 kHz, and MPEG 2.5 at 8 kHz.
    ['fff38000', 208, 576, 22_050],
    ['ffe34800', 288, 576, 8_000],
    // Layers 2 and 1.
    ['fffda400', 576, 1_152, 48_000],
    ['ffff4400', 128, 384, 48_000],
  ])('the MPEG frame header %s gives its length', (hex, bytes, samples, sampleRateHz) => {
    expect(readMp3Frame(head(hex), 0)).toEqual({ bytes, samples, sampleRateHz });
  });

  it.each(['fffb0000', 'fffbf000', 'fffb9c00', 'ffeb9000', 'fff99000', 'fe0b9000'])(
    'the bytes %s are no MPEG frame header',
    (hex) => {
      expect(readMp3Frame(head(hex), 0)).toBeUndefined();
    },
  );
});
