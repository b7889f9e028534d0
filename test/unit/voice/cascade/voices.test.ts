import { describe, expect, it } from 'vitest';
import { spokenVoice } from '../../../../src/voice/cascade/voices.ts';

describe('spokenVoice', () => {
  it.each([
    ['openai/tts-1', 'marin', 'alloy'],
    ['openai/tts-1-hd', 'verse', 'alloy'],
    ['openai/tts-1', 'nova', 'nova'],
    ['openai/gpt-4o-mini-tts', 'marin', 'marin'],
    ['acme/speak', 'cedar', 'cedar'],
    ['kokoro/kokoro-82m', 'alloy', 'af_alloy'],
    ['kokoro/kokoro-82m', 'marin', 'af_heart'],
    ['kokoro/kokoro-82m', 'bf_emma', 'bf_emma'],
  ])('asks %s for %s as %s', (model, wanted, voice) => {
    expect(spokenVoice(model, wanted)).toBe(voice);
  });
});
