import { beforeEach, describe, expect, it, vi } from 'vitest';
import { SoundRefused } from '../../../../media/coded/packets.ts';
import { probeDuration } from '../../../../media/duration/probe-duration.ts';
import { HeardFile } from '../../../../src/engines/decoding/heard-file.ts';
import { flacFile, oggPage, opusFile, wavFile } from '../../../support/sound-files.ts';
import { soundVector } from '../../../support/sound-vector.ts';
import { loadRecording } from '../../../support/speech.ts';

// Decoders tell there of every damaged packet.
beforeEach(() => {
  for (const name of ['error', 'warn', 'log'] as const) {
    vi.spyOn(console, name).mockImplementation(() => {});
  }
  return () => vi.restoreAllMocks();
});

async function decode(bytes: Buffer, statedMs = 600_000) {
  const file = new HeardFile(bytes, statedMs);
  const pcm: number[] = [];
  for (;;) {
    const batch = await file.next();
    pcm.push(...batch.pcm);
    if (batch.isEnd) return { pcm: Int16Array.from(pcm), soundMs: batch.soundMs };
  }
}

/** The best likeness of two sounds where one is shifted by some samples. */
function likeness(a: Int16Array, b: Int16Array): number {
  let best = 0;
  for (let shift = -32; shift <= 32; shift++) {
    let both = 0;
    let left = 0;
    let right = 0;
    for (let i = 1_000; i < 40_000; i++) {
      const x = a[i] as number;
      const y = b[i + shift] as number;
      both += x * y;
      left += x * x;
      right += y * y;
    }
    best = Math.max(best, both / Math.sqrt(left * right));
  }
  return best;
}

describe('a file that is decoded', () => {
  it.each([
    ['speech.mp3', 2_787],
    ['speech.ogg', 2_787],
    ['speech.opus', 2_787],
    ['speech.m4a', 2_816],
    ['fragmented.mp4', 2_787],
    ['opus.mp4', 2_794],
    ['recorder.webm', 2_794],
    ['vorbis.webm', 2_816],
  ])('a decoded file sounds as it did before encoding: %s', async (name, durationMs) => {
    const { pcm, soundMs } = await decode(soundVector(name));
    expect(soundMs).toBe(durationMs);
    expect(likeness(loadRecording('goforward.wav'), pcm)).toBeGreaterThan(0.9);
    expect(pcm.length % 320).toBe(0);
  });

  it.each([
    ['short.flac', 400],
    ['flac.ogg', 400],
    ['mp3.wav', 576],
  ])('a decoded file lasts as long as it did before encoding: %s', async (name, durationMs) => {
    expect((await decode(soundVector(name))).soundMs).toBe(durationMs);
  });

  it.each(['speech.opus', 'speech.ogg', 'flac.ogg'])(
    'decoding goes on with the next stream where %s is chained',
    async (name) => {
      const once = await decode(soundVector(name));
      const twice = await decode(Buffer.concat([soundVector(name), soundVector(name)]));
      expect(Math.abs(twice.soundMs - 2 * once.soundMs)).toBeLessThanOrEqual(1);
    },
  );

  it.each([
    ['A-law', { tag: 6, bits: 8 }],
    ['mu-law', { tag: 7, bits: 8 }],
    ['8 bits', { bits: 8 }],
    ['24 bits', { bits: 24 }],
    ['32 bits', { bits: 32 }],
    ['floats', { tag: 3, bits: 32 }],
  ])('a WAV file of %s can be decoded', async (_, format) => {
    const data = new Uint8Array((8_000 * format.bits) / 8);
    const { soundMs } = await decode(wavFile({ ...format, rateHz: 8_000, data }));
    expect(soundMs).toBe(1_000);
  });
});

/** An M4A file whose directory is whole and whose sound is not. */
function brokenAac(): Buffer {
  const file = soundVector('speech.m4a');
  return file.fill(0xff, 100, file.indexOf('moov') - 4);
}

/** Opus packets of 120 ms each, two bytes long. */
function opusBomb(packets: number): Buffer {
  const pages = [opusFile(0)];
  for (let i = 0; i < packets; i += 200) {
    const packet = Buffer.from([0x1b, 0x06]);
    pages.push(oggPage({ packets: Array<Buffer>(200).fill(packet), granule: 1n }));
  }
  return Buffer.concat(pages);
}

describe('a file that attacks its decoder', () => {
  it.each([
    ['Opus', opusBomb(4_000)],
    ['FLAC', flacFile(250, 1)],
  ])(
    'the decoding of a file is refused soon after the length that the file states: %s',
    async (_, bytes) => {
      const file = new HeardFile(bytes, 1_000);
      let samples = 0;
      const all = async () => {
        for (;;) {
          const batch = await file.next();
          samples += batch.pcm.length;
          if (batch.isEnd) return;
        }
      };
      await expect(all()).rejects.toBeInstanceOf(SoundRefused);
      expect(samples).toBeLessThan(10 * 16_000);
    },
  );

  it('the measured duration of an Opus file that decodes to hours of sound is hours', async () => {
    const bomb = await probeDuration(opusBomb(400_000));
    expect(bomb).toMatchObject({ durationMs: 47_999_994 });
  });

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['noise', Buffer.alloc(9_000, 'noise')],
    ['FLAC frames of nothing', flacFile(10)],
    ['an MP4 without its directory', soundVector('speech.m4a').subarray(0, 9_000)],
    ['Opus that claims 200 channels', soundVector('speech.opus').fill(200, 37, 38)],
    ['Vorbis that claims 99 channels', soundVector('speech.ogg').fill(99, 39, 40)],
    ['AAC whose packets are broken', brokenAac()],
    ['Vorbis without its code books', soundVector('speech.ogg').fill(0, 100, 4_000)],
  ])('a file that cannot be decoded is refused with a sentence: %s', async (_, bytes) => {
    await expect(decode(bytes)).rejects.toThrow(/^[A-Z].*\.$/);
  });

  it.each([
    'speech.mp3',
    'speech.ogg',
    'speech.opus',
    'recorder.webm',
    'fragmented.mp4',
    'short.flac',
  ])('a file that was cut is decoded up to the cut: %s', async (name) => {
    const whole = soundVector(name);
    const { soundMs } = await decode(whole.subarray(0, Math.floor(whole.length * 0.8)));
    const all = await decode(whole);
    expect(soundMs).toBeGreaterThan(all.soundMs * 0.3);
    expect(soundMs).toBeLessThan(all.soundMs);
  });
});
