import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeAlaw, encodeAlaw } from '../../../media/alaw.ts';
import { decodeMulaw, encodeMulaw, MULAW_SILENCE } from '../../../media/mulaw.ts';
import vectors from '../../vectors/g711.json' with { type: 'json' };
import { alawCode, alawSample, mulawCode, mulawSample } from './g711-by-the-rule.ts';

const ALL_SAMPLES = Int16Array.from({ length: 65_536 }, (_, i) => i - 32_768);
const ALL_CODES = Uint8Array.from({ length: 256 }, (_, i) => i);

const LAWS = [
  {
    law: 'alaw',
    encode: encodeAlaw,
    decode: decodeAlaw,
    silence: 0xd5,
    codeByTheRule: alawCode,
    sampleByTheRule: alawSample,
    corners: vectors.alaw,
  },
  {
    law: 'mulaw',
    encode: encodeMulaw,
    decode: decodeMulaw,
    silence: MULAW_SILENCE,
    codeByTheRule: mulawCode,
    sampleByTheRule: mulawSample,
    corners: vectors.mulaw,
  },
] as const;

describe.each(LAWS)(
  '$law',
  ({ encode, decode, silence, codeByTheRule, sampleByTheRule, corners }) => {
    it('G.711 encoding follows the G.711 tables for every 16-bit sample', () => {
      const codes = new Uint8Array(65_536);
      expect(encode(ALL_SAMPLES, codes)).toBe(65_536);
      expect(codes).toEqual(Uint8Array.from(ALL_SAMPLES, codeByTheRule));
    });

    it('G.711 decoding follows the G.711 tables for every code', () => {
      const samples = new Int16Array(256);
      expect(decode(ALL_CODES, samples)).toBe(256);
      expect(samples).toEqual(Int16Array.from(ALL_CODES, sampleByTheRule));
    });

    it('G.711 encoding and decoding agree with the published corner vectors', () => {
      for (const [sample, code] of corners.encode as [number, number][]) {
        const target = new Uint8Array(1);
        encode(Int16Array.of(sample), target);
        expect({ sample, code: target[0] }).toEqual({ sample, code });
      }
      for (const [code, sample] of corners.decode as [number, number][]) {
        const target = new Int16Array(1);
        decode(Uint8Array.of(code), target);
        expect({ code, sample: target[0] }).toEqual({ code, sample });
      }
    });

    it('G.711 encoding changes a decoded sample no further, and stays close to the original', () => {
      fc.assert(
        fc.property(fc.int16Array(), (samples) => {
          const codes = new Uint8Array(samples.length);
          const heard = new Int16Array(samples.length);
          const again = new Int16Array(samples.length);
          encode(samples, codes);
          decode(codes, heard);
          encode(heard, codes);
          decode(codes, again);
          expect(again).toEqual(heard);
          heard.forEach((value, i) => {
            const sample = samples[i] as number;
            expect(Math.abs(value - sample)).toBeLessThanOrEqual(Math.abs(sample) / 16 + 140);
          });
        }),
      );
    });

    it('G.711 encoding has a code for silence, and never writes past a target that is too short', () => {
      const heard = new Int16Array(1);
      decode(Uint8Array.of(silence), heard);
      expect(Math.abs(heard[0] as number)).toBeLessThanOrEqual(8);
      expect(() => decode(new Uint8Array(2), heard)).toThrow(RangeError);
      expect(() => encode(new Int16Array(2), new Uint8Array(1))).toThrow(RangeError);
    });
  },
);
