import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  clampSample,
  energy,
  PcmByteReader,
  writeFloats,
  writePcmBytes,
} from '../../../media/pcm.ts';

describe('PCM bytes', () => {
  it('PCM bytes become the same samples however they were cut, at odd places too', () => {
    fc.assert(
      fc.property(
        fc.int16Array({ maxLength: 200 }),
        fc.array(fc.nat({ max: 9 }), { minLength: 1 }),
        (samples, cuts) => {
          const bytes = new Uint8Array(samples.length * 2);
          writePcmBytes(samples, bytes);
          const reader = new PcmByteReader();
          const heard: number[] = [];
          for (let at = 0, turn = 0; at < bytes.length; turn++) {
            const piece = bytes.subarray(at, at + 1 + (cuts[turn % cuts.length] as number));
            const target = new Int16Array(reader.samplesIn(piece.length));
            expect(reader.push(piece, target)).toBe(target.length);
            heard.push(...target);
            at += piece.length;
          }
          expect(Int16Array.from(heard)).toEqual(samples);
          expect(reader.pendingBytes).toBe(0);
        },
      ),
    );
  });

  it('PCM bytes are little-endian on every machine', () => {
    const bytes = new Uint8Array(4);
    expect(writePcmBytes(Int16Array.of(0x0102, -2), bytes)).toBe(4);
    expect([...bytes]).toEqual([0x02, 0x01, 0xfe, 0xff]);
  });

  it('PCM bytes keep a half sample for the next piece, until a reset', () => {
    const reader = new PcmByteReader();
    const target = new Int16Array(2);
    expect(reader.push(Uint8Array.of(1), target)).toBe(0);
    expect(reader.push(new Uint8Array(0), target)).toBe(0);
    expect(reader.pendingBytes).toBe(1);
    reader.reset();
    expect(reader.push(Uint8Array.of(5, 0), target)).toBe(1);
    expect(target[0]).toBe(5);
    expect(() => reader.push(new Uint8Array(9), target)).toThrow(RangeError);
    expect(() => writePcmBytes(target, new Uint8Array(3))).toThrow(RangeError);
  });
});

describe('PCM samples', () => {
  it('PCM samples are clipped at full scale and never wrap round', () => {
    expect([40_000, -40_000, 1.5, Number.NaN, Infinity].map(clampSample)).toEqual([
      32_767, -32_768, 2, 0, 32_767,
    ]);
  });

  it('PCM samples have an energy of 0 for silence, and of the amplitude’s square for a square wave', () => {
    expect(energy(new Int16Array(0))).toBe(0);
    expect(energy(new Int16Array(160))).toBe(0);
    expect(energy(Int16Array.from({ length: 160 }, (_, i) => (i % 2 ? 500 : -500)))).toBe(250_000);
  });

  it('PCM samples become floats between -1 and 1', () => {
    const floats = new Float32Array(3);
    writeFloats(Int16Array.of(-32_768, 0, 16_384), floats);
    expect([...floats]).toEqual([-1, 0, 0.5]);
    expect(() => writeFloats(new Int16Array(4), floats)).toThrow(RangeError);
  });
});
