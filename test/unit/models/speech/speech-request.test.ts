import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codePointsOf, SpeechRequest } from '../../../../src/models/speech/speech-request.ts';

const PLAIN = { model: 'openai/tts-1', input: 'Hello.' };
const passes = (more: object) => SpeechRequest.safeParse({ ...PLAIN, ...more }).success;

describe('a speech request', () => {
  it('a speech request keeps unknown members and gets no default values', () => {
    const sent = { ...PLAIN, voice: 'alloy', odd: { nested: [null] } };
    expect(SpeechRequest.parse(sent)).toEqual(sent);
  });

  it('a speech request’s optional members may be null or missing', () => {
    const nothing = { voice: null, response_format: null, speed: null, stream_format: null };
    expect(passes({ ...nothing, instructions: null })).toBe(true);
    expect(passes({})).toBe(true);
  });

  it('a speech request’s text is counted in code points, up to 4,096', () => {
    expect(codePointsOf('añ🙂')).toBe(3);
    const halves = fc.constantFrom('\ud83d', '\ude42', 'a');
    fc.assert(
      fc.property(fc.string({ unit: halves }), (text) => {
        expect(codePointsOf(text)).toBe([...text].length);
      }),
    );
    expect(passes({ input: '🙂'.repeat(4_096) })).toBe(true);
    expect(passes({ input: '🙂'.repeat(4_097) })).toBe(false);
    expect(passes({ input: 'a'.repeat(4_097) })).toBe(false);
    expect(passes({ input: 'a'.repeat(1_000_000) })).toBe(false);
    expect(passes({ input: '' })).toBe(false);
    for (const length of [4_097, 9_000]) {
      const { error } = SpeechRequest.safeParse({ ...PLAIN, input: 'a'.repeat(length) });
      expect(error?.issues.map(({ message }) => message)).toEqual([
        'must have at most 4096 characters',
      ]);
    }
  });

  it('a speech request’s voice is a name or an object with an id', () => {
    expect(passes({ voice: { id: 'voice_1', more: 1 } })).toBe(true);
    for (const voice of ['', {}, { id: '' }, 7, ['alloy']]) {
      expect(passes({ voice }), JSON.stringify(voice)).toBe(false);
    }
  });

  it('a speech request’s speed is limited, and its formats are the known ones', () => {
    for (const speed of [0.25, 1, 4]) expect(passes({ speed })).toBe(true);
    for (const speed of [0.24, 4.01, '1']) expect(passes({ speed })).toBe(false);
    for (const response_format of ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm']) {
      expect(passes({ response_format })).toBe(true);
    }
    expect(passes({ response_format: 'ogg' })).toBe(false);
    expect(passes({ stream_format: 'ndjson' })).toBe(false);
  });
});
