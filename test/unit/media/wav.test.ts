import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeMulaw } from '../../../media/mulaw.ts';
import { encodeWav, parseWav, type Wav, wavHeader, wavSamples } from '../../../media/wav.ts';

function parsed(bytes: Uint8Array): Wav {
  const wav = parseWav(bytes);
  if (wav.kind === 'refused') throw new Error(wav.reason);
  return wav;
}

function reasonOf(bytes: Uint8Array): string {
  const wav = parseWav(bytes);
  return wav.kind === 'refused' ? wav.reason : 'parsed';
}

/** A good file with bytes of its header changed. */
function spoilt(change: (view: DataView) => void): Uint8Array {
  const bytes = encodeWav(Int16Array.of(1, 2, 3, 4), 16_000);
  change(new DataView(bytes.buffer));
  return bytes;
}

describe('a WAV file', () => {
  it('a WAV file without a stated length is read to its end', () => {
    for (const coding of ['linear16', 'mulaw'] as const) {
      const head = wavHeader({ coding, sampleRateHz: 8_000, dataBytes: null });
      const known = wavHeader({ coding, sampleRateHz: 8_000, dataBytes: 6 });
      expect(head.length).toBe(known.length);
      const wav = parsed(Buffer.concat([head, Buffer.alloc(6, 1)]));
      expect(wav).toMatchObject({ coding, truncated: false });
      expect(wav.data.length).toBe(6);
    }
  });

  it('a WAV file gives back the samples and the rate that were put in', () => {
    fc.assert(
      fc.property(fc.int16Array(), fc.integer({ min: 8_000, max: 48_000 }), (samples, rate) => {
        const wav = parsed(encodeWav(samples, rate));
        expect(wav).toMatchObject({ sampleRateHz: rate, channels: 1, truncated: false });
        expect(wavSamples(wav)).toEqual(samples);
      }),
    );
  });

  it('a WAV file may hold G.711, with the longer header that G.711 requires', () => {
    const codes = new Uint8Array(5);
    encodeMulaw(Int16Array.of(0, 1_000, -1_000, 30_000, -30_000), codes);
    const header = wavHeader({ coding: 'mulaw', sampleRateHz: 8_000, dataBytes: codes.length });
    expect(header.length).toBe(58);
    const wav = parsed(Uint8Array.of(...header, ...codes, 0));
    expect(wav).toMatchObject({ coding: 'mulaw', sampleRateHz: 8_000 });
    const heard = wavSamples(wav);
    const again = new Uint8Array(5);
    encodeMulaw(heard, again);
    expect(again).toEqual(codes);
  });

  it('a WAV file is read past chunks of other kinds, odd lengths included', () => {
    const good = encodeWav(Int16Array.of(7, 8), 8_000);
    const list = Uint8Array.of(0x4c, 0x49, 0x53, 0x54, 3, 0, 0, 0, 9, 9, 9, 0);
    const wav = parsed(Uint8Array.of(...good.subarray(0, 12), ...list, ...good.subarray(12)));
    expect([...wavSamples(wav)]).toEqual([7, 8]);
  });

  it('a WAV file with two channels is read as their average', () => {
    const bytes = spoilt((view) => view.setUint16(22, 2, true));
    expect([...wavSamples(parsed(bytes))]).toEqual([1, 3]);
  });

  it('a WAV file whose length is unknown or too great is read as far as it goes', () => {
    for (const [size, truncated] of [
      [0xffff_ffff, false],
      [0, false],
      [5_000, true],
    ] as const) {
      const wav = parsed(spoilt((view) => view.setUint32(40, size, true)));
      expect(wav.truncated).toBe(truncated);
      expect([...wavSamples(wav)]).toEqual([1, 2, 3, 4]);
    }
  });

  it('a WAV file that cannot be read is refused in a sentence that says why', () => {
    expect(reasonOf(new Uint8Array(3))).toBe('not a RIFF WAVE file');
    expect(reasonOf(spoilt((view) => view.setUint8(8, 0)))).toBe('not a RIFF WAVE file');
    expect(reasonOf(spoilt((view) => view.setUint16(20, 85, true)))).toMatch(/^format 85 is not/);
    expect(reasonOf(spoilt((view) => view.setUint16(34, 24, true)))).toMatch(/^24 bits/);
    expect(reasonOf(spoilt((view) => view.setUint16(22, 6, true)))).toMatch(/^6 channels/);
    expect(reasonOf(spoilt((view) => view.setUint32(24, 4_000, true)))).toMatch(/^4000 Hz/);
    expect(reasonOf(spoilt((view) => view.setUint32(16, 9, true)))).toMatch(/cut short/);
    expect(reasonOf(spoilt((view) => view.setUint8(36, 0)))).toBe('no data chunk');
    expect(reasonOf(spoilt((view) => view.setUint8(12, 0)))).toMatch(/before the fmt chunk/);
  });

  it('a WAV file of any bytes at all is parsed or refused, and never throws or runs on', () => {
    const file = encodeWav(
      Int16Array.from({ length: 40 }, (_, i) => i),
      8_000,
    );
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat({ max: 123 }), fc.nat({ max: 255 })), { maxLength: 12 }),
        fc.nat({ max: 124 }),
        (changes, length) => {
          const bytes = file.slice(0, length);
          for (const [at, value] of changes) bytes[at] = value;
          const wav = parseWav(bytes);
          if (wav.kind === 'parsed') expect(wavSamples(wav).length).toBeLessThanOrEqual(80);
        },
      ),
    );
  });

  it('a WAV file of thousands of empty chunks is given up', () => {
    const bytes = new Uint8Array(100_000);
    bytes.set(encodeWav(new Int16Array(0), 8_000).subarray(0, 12));
    expect(reasonOf(bytes)).toBe('no fmt chunk');
  });
});
