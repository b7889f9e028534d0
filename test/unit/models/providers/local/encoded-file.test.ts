import { describe, expect, it } from 'vitest';
import type { SoundEncoding } from '../../../../../src/engines/engine.ts';
import type { EncodedFormat } from '../../../../../src/engines/tts/sound-encoder.ts';
import { encodedFile } from '../../../../../src/models/providers/local/encoded-file.ts';
import { SPEECH_LIMITS } from '../../../../../src/models/speech/limits.ts';

/** Writes a head of 42 bytes and then a byte a piece, and keeps account of what is open. */
function encoders() {
  const opened: EncodedFormat[] = [];
  const counts = { open: 0, pushed: 0 };
  const encoding: Pick<SoundEncoding, 'open'> = {
    async open(format) {
      opened.push(format);
      counts.open++;
      return {
        async push() {
          counts.pushed++;
          return counts.pushed === 1 ? new Uint8Array(42) : Uint8Array.of(counts.pushed);
        },
        finish: async () => Uint8Array.of(255),
        close() {
          counts.open--;
        },
      };
    },
  };
  return { counts, encoding, opened };
}

async function* sound(pieces: number, samples = 100): AsyncGenerator<Int16Array> {
  for (let i = 0; i < pieces; i++) yield new Int16Array(samples);
}

async function all(file: AsyncIterable<Uint8Array>): Promise<number[]> {
  const lengths: number[] = [];
  for await (const piece of file) lengths.push(piece.length);
  return lengths;
}

describe('a file that an encoder writes while it is sent', () => {
  it('an encoded audio file is sent piece by piece, and its encoder is released', async () => {
    const { counts, encoding, opened } = encoders();
    expect(await all(encodedFile(encoding, 'mp3', sound(3)))).toEqual([42, 1, 1, 1]);
    expect([opened, counts.open]).toEqual([['mp3'], 0]);
  });

  it('an encoded audio file without audio is empty and takes no encoder', async () => {
    const { encoding, opened } = encoders();
    for (const format of ['opus', 'flac'] as const) {
      expect(await all(encodedFile(encoding, format, sound(0)))).toEqual([]);
    }
    expect(opened).toEqual([]);
  });

  it('an encoded audio file’s encoder is released when the reader leaves or the audio breaks', async () => {
    const { counts, encoding } = encoders();
    const left = encodedFile(encoding, 'opus', sound(9));
    await left.next();
    expect(counts.open).toBe(1);
    await left.return(undefined);
    expect(counts.open).toBe(0);
    const broken = (async function* () {
      yield new Int16Array(1);
      throw new Error('the engine failed');
    })();
    await expect(all(encodedFile(encoding, 'flac', broken))).rejects.toThrow('the engine failed');
    expect(counts.open).toBe(0);
  });

  it('a short FLAC file is sent whole and states its length', async () => {
    const { encoding } = encoders();
    const pieces: Uint8Array[] = [];
    for await (const piece of encodedFile(encoding, 'flac', sound(3))) pieces.push(piece);
    expect(pieces.map(({ length }) => length)).toEqual([45]);
    expect(Buffer.from(pieces[0] ?? []).readUInt32BE(22)).toBe(300);
  });

  it('a long FLAC file is sent before its end and leaves its length open', async () => {
    const { encoding } = encoders();
    const half = SPEECH_LIMITS.wholeFileBytes / 4;
    const pieces: Uint8Array[] = [];
    for await (const piece of encodedFile(encoding, 'flac', sound(5, half))) pieces.push(piece);
    expect(pieces.map(({ length }) => length)).toEqual([44, 1, 1, 1]);
    expect(Buffer.from(pieces[0] ?? []).readUInt32BE(22)).toBe(0);
  });
});
