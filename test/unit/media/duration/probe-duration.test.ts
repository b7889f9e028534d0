import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { probeDuration } from '../../../../media/duration/probe-duration.ts';
import * as files from '../../../support/sound-files.ts';
import { soundVector } from '../../../support/sound-vector.ts';

const WHOLE: Readonly<Record<string, readonly [Buffer, number]>> = {
  wav: [files.wavFile({ data: new Uint8Array(32_000) }), 1_000],
  // 10 frames of 1152 samples at 44.1 kHz.
  mp3: [files.mp3File(10), 262],
  'mp3 with tags': [Buffer.concat([files.id3(200), files.mp3File(10)]), 262],
  aac: [files.adtsFile(10), 640],
  flac: [files.flacFile(10), 2_560],
  opus: [files.opusFile(50), 994],
  vorbis: [files.vorbisFile(44_100n), 1_000],
  m4a: [files.mp4File({ trackUnits: 32_000 }), 2_000],
  webm: [files.webmFile([0, 20, 40]), 60],
};

/** Files of other programs, by how many milliseconds those programs decode of them. */
const REAL: Readonly<Record<string, number>> = {
  'gsm.wav': 400,
  'ima.wav': 511,
  'ms.wav': 506,
  'mp3.wav': 576,
  'flac.ogg': 400,
  'short.flac': 400,
  'speech.mp3': 2_880,
  'speech.ogg': 2_787,
  'speech.opus': 2_787,
  'opus.mp4': 2_793,
};

describe('the duration of a file', () => {
  it.each(Object.entries(REAL))(
    'the duration of another program’s file is measured: %s',
    async (name, durationMs) => {
      expect(await probeDuration(soundVector(name))).toEqual({ kind: 'measured', durationMs });
    },
  );

  it.each([
    ['MP3', soundVector('speech.mp3').subarray(1_000), 2_592],
    ['AAC', files.adtsFile(10).subarray(3), 576],
  ])(
    'the duration of %s that begins within a frame is that of its whole frames',
    async (_, file, durationMs) => {
      expect(await probeDuration(file)).toEqual({ kind: 'measured', durationMs });
    },
  );

  it('the duration of chained Ogg counts each stream, also where streams share a serial number', async () => {
    const chain = (name: string, times: number) =>
      probeDuration(Buffer.concat(Array.from({ length: times }, () => soundVector(name))));
    expect(await chain('speech.opus', 2)).toMatchObject({ durationMs: 5_573 });
    expect(await chain('speech.ogg', 2)).toMatchObject({ durationMs: 5_573 });
    expect(await chain('speech.ogg', 100)).toMatchObject({ durationMs: 278_625 });
  });

  it.each(Object.entries(WHOLE))(
    'the duration of a file is found in %s, by its bytes alone',
    async (_, [file, durationMs]) => {
      expect(await probeDuration(file)).toEqual({ kind: 'measured', durationMs });
    },
  );

  it('a file without a duration is refused with a sentence', async () => {
    const none = [
      Buffer.alloc(0),
      Buffer.from('text'),
      files.wavFile({ data: new Uint8Array(0) }),
      files.mp4File({}),
      files.vorbisFile(0n),
      files.vorbisFile(1n << 62n),
      files.flacFile(0, 1_000_000),
    ];
    for (const file of none) {
      expect(await probeDuration(file)).toMatchObject({ kind: 'refused' });
    }
  });

  it('the duration of a broken file is found or refused, and never throws', async () => {
    const broken = fc
      .tuple(
        fc.constantFrom(...Object.values(WHOLE).map(([file]) => file)),
        fc.nat(),
        fc.nat(),
        fc.nat(255),
      )
      .map(([file, cut, at, byte]) => {
        const part = Buffer.from(file.subarray(0, cut % (file.length + 1)));
        if (part.length > 0) part[at % part.length] = byte;
        return part;
      });
    await fc.assert(
      fc.asyncProperty(fc.oneof(broken, fc.uint8Array({ maxLength: 200 })), async (file) => {
        const found = await probeDuration(file);
        if (found.kind === 'measured') expect(found.durationMs).toBeGreaterThan(0);
        else expect(found.reason).toMatch(/\.$/);
      }),
      { numRuns: 500 },
    );
  });
});
