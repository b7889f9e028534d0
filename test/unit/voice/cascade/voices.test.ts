import { describe, expect, it } from 'vitest';
import { BUILTIN_MODELS } from '../../../../src/models/catalogue/builtin/models.ts';
import type { Model } from '../../../../src/models/catalogue/catalogue.ts';
import { inLanguage, spokenVoice } from '../../../../src/voice/cascade/voices.ts';

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
  ])('spokenVoice for %s, when a session names %s, is %s', (model, wanted, voice) => {
    expect(spokenVoice(model, wanted)).toBe(voice);
  });
});

describe('inLanguage', () => {
  const named = (id: string) =>
    (BUILTIN_MODELS.find((model) => model.id === id) ?? { id, sources: [] }) as unknown as Model;

  it.each([
    ['kokoro/kokoro-82m', 'af_alloy', 'es-ES', { transcriptionLanguage: 'es', voice: 'ef_dora' }],
    ['kokoro/kokoro-82m', 'bf_emma', 'en-US', { transcriptionLanguage: 'en', voice: 'bf_emma' }],
    ['kokoro/kokoro-82m', 'ef_dora', 'en', { transcriptionLanguage: 'en', voice: 'af_heart' }],
    ['kokoro/kokoro-82m', 'alloy', 'de-DE', undefined],
    ['kokoro/kokoro-82m', 'alloy', 'constructor', undefined],
    ['openai/gpt-4o-mini-tts', 'marin', 'DE-de', { transcriptionLanguage: 'de', voice: 'marin' }],
    ['local/flite', 'slt', 'en-GB', { transcriptionLanguage: 'en', voice: 'slt' }],
    ['local/flite', 'slt', 'fr-FR', undefined],
    ['acme/speak', 'cedar', 'fil-PH', undefined],
  ])(
    'inLanguage for %s with the voice %s turns the language %s into the change %j',
    (model, voice, tag, change) => {
      expect(inLanguage(named(model), { voice }, tag)).toEqual(change);
    },
  );
});
