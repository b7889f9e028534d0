import { describe, expect, it } from 'vitest';
import { parseWav } from '../../../../../media/wav.ts';
import { ENGINE_LIMITS } from '../../../../../src/engines/limits.ts';
import { wavFile } from '../../../../../src/models/providers/local/wav-file.ts';
import { SPEECH_LIMITS } from '../../../../../src/models/speech/limits.ts';

async function piecesOf(count: number, bytes: number): Promise<Uint8Array[]> {
  const pieces: Uint8Array[] = [];
  const pcm = (async function* () {
    for (let i = 0; i < count; i++) yield new Uint8Array(bytes).fill(i + 1);
  })();
  for await (const piece of wavFile(pcm)) pieces.push(piece);
  return pieces;
}

const read = (pieces: readonly Uint8Array[]) => {
  const wav = parseWav(Buffer.concat(pieces));
  if (wav.kind === 'refused') throw new Error(wav.reason);
  return wav;
};

describe('a WAV file that is made while it is sent', () => {
  it('a short WAV file is sent in one piece with its true length', async () => {
    const pieces = await piecesOf(3, 100);
    expect(pieces).toHaveLength(1);
    expect(Buffer.concat(pieces).readUInt32LE(40)).toBe(300);
    expect(Buffer.concat(pieces).readUInt32LE(4)).toBe(336);
    expect(read(pieces)).toMatchObject({
      sampleRateHz: ENGINE_LIMITS.speech.sampleRateHz,
      channels: 1,
    });
    expect(Uint8Array.from(read(pieces).data)).toEqual(
      Uint8Array.from({ length: 300 }, (_, i) => Math.floor(i / 100) + 1),
    );
  });

  it('a long WAV file is sent before its end, leaves its length open and loses no audio', async () => {
    const half = SPEECH_LIMITS.wholeFileBytes / 2;
    const pieces = await piecesOf(5, half);
    expect(pieces.map(({ length }) => length)).toEqual([44 + 3 * half, half, half]);
    expect(Buffer.concat(pieces).readUInt32LE(40)).toBe(0xffff_ffff);
    const { data, truncated } = read(pieces);
    expect([data.length, data.at(-1), truncated]).toEqual([5 * half, 5, false]);
  });

  it('a WAV file without audio has no bytes', async () => {
    expect(await piecesOf(0, 0)).toEqual([]);
  });
});
