import { describe, expect, it } from 'vitest';
import { encodeMulaw } from '../../../../../media/mulaw.ts';
import { parseWav } from '../../../../../media/wav.ts';
import { madeSound } from '../../../../../src/protocols/deepgram/speak/spoken-sound.ts';
import { usualStallMs } from '../../../../support/longest-stall.ts';
import { bytesOf, tone } from '../../../../support/voice-fakes.ts';

const HZ = 24_000;

/** A source of pieces that are cut anywhere, which knows whether it was given up. */
function source(pieces: readonly Uint8Array[], failure?: Error) {
  const seen = { asked: 0, isGivenUp: false };
  const iterable: AsyncIterable<Uint8Array> = {
    [Symbol.asyncIterator]: () => ({
      async next() {
        const value = pieces[seen.asked++];
        if (value !== undefined) return { done: false, value };
        if (failure !== undefined) throw failure;
        return { done: true, value: undefined };
      },
      async return() {
        seen.isGivenUp = true;
        return { done: true, value: undefined };
      },
    }),
  };
  return { iterable, seen };
}

async function all(sound: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of sound) pieces.push(piece);
  return Buffer.concat(pieces);
}

const cut = (bytes: Uint8Array, step: number) =>
  Array.from({ length: Math.ceil(bytes.length / step) }, (_, i) =>
    bytes.slice(i * step, (i + 1) * step),
  );

describe('samples in another form', () => {
  it('audio whose format stays the same is sent unchanged, however it was cut', async () => {
    const bytes = Buffer.from(bytesOf(tone(500, HZ)));
    for (const step of [1, 333, 100_000]) {
      const { iterable } = source(cut(bytes, step));
      const same = { encoding: 'linear16', sampleRateHz: HZ, inWav: false } as const;
      expect((await all(madeSound(iterable, same))).equals(bytes)).toBe(true);
    }
  });

  it('audio keeps its duration when resampled, and is encoded', async () => {
    const bytes = bytesOf(tone(1_000, HZ));
    const phone = { encoding: 'mulaw', sampleRateHz: 8_000, inWav: false } as const;
    const coded = await all(madeSound(source(cut(bytes, 999)).iterable, phone));
    expect(Math.abs(coded.length - 8_000)).toBeLessThan(3);
    const silence = new Uint8Array(1);
    encodeMulaw(new Int16Array(1), silence);
    expect(new Set(coded).size).toBeGreaterThan(20);
    const wav = { ...phone, inWav: true };
    const file = await all(madeSound(source(cut(bytes, 999)).iterable, wav));
    expect(parseWav(file)).toMatchObject({ kind: 'parsed', coding: 'mulaw', truncated: false });
  });

  it('audio conversion reads nothing more after its reader has left, also before the first piece', async () => {
    const pieces = cut(bytesOf(tone(2_000, HZ)), 9_600);
    const format = { encoding: 'alaw', sampleRateHz: 8_000, inWav: false } as const;
    const early = source(pieces);
    const reader = madeSound(early.iterable, format)[Symbol.asyncIterator]();
    await reader.return?.();
    expect(early.seen).toEqual({ asked: 0, isGivenUp: true });
    const late = source(pieces);
    for await (const _ of madeSound(late.iterable, format)) break;
    expect(late.seen.isGivenUp).toBe(true);
    expect(late.seen.asked).toBeLessThan(3);
  });

  it('audio conversion fails where its source fails', async () => {
    const { iterable } = source(cut(bytesOf(tone(500, HZ)), 4_800), new Error('cut'));
    const format = { encoding: 'linear16', sampleRateHz: 8_000, inWav: true } as const;
    await expect(all(madeSound(iterable, format))).rejects.toThrow('cut');
  });

  it('the conversion of a minute of audio in one piece does not stall the event loop', async () => {
    const minute = bytesOf(tone(60_000, HZ));
    const format = { encoding: 'mulaw', sampleRateHz: 8_000, inWav: false } as const;
    const work = () => all(madeSound(source([minute]).iterable, format));
    expect(await usualStallMs(50, work)).toBeLessThan(50);
  });
});
