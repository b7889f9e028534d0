import { describe, expect, it } from 'vitest';
import { decodeAlaw } from '../../../../media/alaw.ts';
import { bytesPerMs, type SoundFormat } from '../../../../media/coding.ts';
import { decodeMulaw } from '../../../../media/mulaw.ts';
import { PcmByteReader } from '../../../../media/pcm.ts';
import { DEFAULT_CONFIG } from '../../../../src/voice/session/session-config.ts';
import { type SpeechDeltas, SpeechEncoder } from '../../../../src/voice/session/speech-encoder.ts';
import { rms } from '../../../support/rms.ts';
import { tone } from '../../../support/voice-fakes.ts';

const PCM_24K = DEFAULT_CONFIG.outputFormat;

const decoders = {
  linear16: (bytes: Uint8Array, target: Int16Array) => new PcmByteReader().push(bytes, target),
  mulaw: decodeMulaw,
  alaw: decodeAlaw,
};

const all = (deltas: SpeechDeltas): Uint8Array[] => {
  const copies: Uint8Array[] = [];
  while (!deltas.isOver) copies.push(deltas.next().slice());
  return copies;
};

const sentence = (encoder: SpeechEncoder, pcm: Int16Array, sampleRateHz: number) => [
  ...all(encoder.piece(pcm, sampleRateHz)),
  ...all(encoder.end()),
];

describe('SpeechEncoder', () => {
  it.each<SoundFormat>([
    PCM_24K,
    { encoding: 'linear16', sampleRateHz: 16_000 },
    { encoding: 'mulaw', sampleRateHz: 8_000 },
    { encoding: 'alaw', sampleRateHz: 8_000 },
  ])(
    'SpeechEncoder encodes speech as %o at its own length and loudness, in deltas of 200 ms',
    (format) => {
      const bytesPerSecond = bytesPerMs(format) * 1_000;
      const spoken = tone(1_300, 16_000);
      const deltas = sentence(new SpeechEncoder(format), spoken, 16_000);
      const bytes = Buffer.concat(deltas);
      expect(bytes.length / bytesPerSecond).toBeCloseTo(1.3, 3);
      expect(Math.max(...deltas.map(({ length }) => length))).toBeLessThanOrEqual(
        bytesPerSecond * 0.21,
      );
      const heard = new Int16Array(bytes.length);
      const count = decoders[format.encoding](bytes, heard);
      expect(rms(heard.subarray(0, count)) / rms(spoken)).toBeCloseTo(1, 1);
    },
  );

  it('SpeechEncoder starts every sentence afresh, at any sample rate', () => {
    const encoder = new SpeechEncoder(PCM_24K);
    const once = Buffer.concat(sentence(encoder, tone(200, 16_000), 16_000));
    const other = Buffer.concat(sentence(encoder, tone(200, 8_000), 8_000));
    const again = Buffer.concat(sentence(encoder, tone(200, 16_000), 16_000));
    expect(other.length).toBe(once.length);
    expect(again.equals(once)).toBe(true);
  });

  it('SpeechEncoder encodes a sentence that comes in pieces to the same bytes as in one piece', () => {
    const spoken = tone(300, 16_000);
    const whole = Buffer.concat(sentence(new SpeechEncoder(PCM_24K), spoken, 16_000));
    const encoder = new SpeechEncoder(PCM_24K);
    const pieces: Uint8Array[] = [];
    for (let at = 0; at < spoken.length; at += 777) {
      pieces.push(...all(encoder.piece(spoken.subarray(at, at + 777), 16_000)));
    }
    pieces.push(...all(encoder.end()));
    expect(Buffer.concat(pieces).equals(whole)).toBe(true);
  });
});
