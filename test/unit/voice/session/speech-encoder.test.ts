import { describe, expect, it } from 'vitest';
import { decodeAlaw } from '../../../../media/alaw.ts';
import { decodeMulaw } from '../../../../media/mulaw.ts';
import { PcmByteReader, rms } from '../../../../media/pcm.ts';
import { type AudioFormat, PCM_24K } from '../../../../src/voice/session/audio-format.ts';
import { SpeechEncoder } from '../../../../src/voice/session/speech-encoder.ts';
import { tone } from '../../../support/voice-fakes.ts';

const decoders = {
  'audio/pcm': (bytes: Uint8Array, target: Int16Array) => new PcmByteReader().push(bytes, target),
  'audio/pcmu': decodeMulaw,
  'audio/pcma': decodeAlaw,
};

const sentence = (encoder: SpeechEncoder, pcm: Int16Array, sampleRateHz: number) => [
  ...encoder.piece(pcm, sampleRateHz),
  ...encoder.end(),
];

describe('SpeechEncoder', () => {
  it.each<[AudioFormat, number]>([
    [PCM_24K, 48_000],
    [{ type: 'audio/pcmu' }, 8_000],
    [{ type: 'audio/pcma' }, 8_000],
  ])('speaks %o at its own length and loudness, in deltas of 200 ms', (format, bytesPerSecond) => {
    const spoken = tone(1_300, 16_000);
    const deltas = sentence(new SpeechEncoder(format), spoken, 16_000);
    const bytes = Buffer.concat(deltas);
    expect(bytes.length / bytesPerSecond).toBeCloseTo(1.3, 3);
    expect(Math.max(...deltas.map(({ length }) => length))).toBeLessThanOrEqual(
      bytesPerSecond * 0.21,
    );
    const heard = new Int16Array(bytes.length);
    const count = decoders[format.type](bytes, heard);
    expect(rms(heard.subarray(0, count)) / rms(spoken)).toBeCloseTo(1, 1);
  });

  it('starts every sentence afresh, whatever rate it comes at', () => {
    const encoder = new SpeechEncoder(PCM_24K);
    const once = Buffer.concat(sentence(encoder, tone(200, 16_000), 16_000));
    const other = Buffer.concat(sentence(encoder, tone(200, 8_000), 8_000));
    const again = Buffer.concat(sentence(encoder, tone(200, 16_000), 16_000));
    expect(other.length).toBe(once.length);
    expect(again.equals(once)).toBe(true);
  });

  it('makes the same of a sentence that comes in pieces', () => {
    const spoken = tone(300, 16_000);
    const whole = Buffer.concat(sentence(new SpeechEncoder(PCM_24K), spoken, 16_000));
    const encoder = new SpeechEncoder(PCM_24K);
    const pieces: Uint8Array[] = [];
    for (let at = 0; at < spoken.length; at += 777) {
      pieces.push(...encoder.piece(spoken.subarray(at, at + 777), 16_000));
    }
    pieces.push(...encoder.end());
    expect(Buffer.concat(pieces).equals(whole)).toBe(true);
  });
});
