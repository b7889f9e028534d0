import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { priceRaw } from '../../../../src/kernel/price.ts';
import type { RateTexts } from '../../../../src/models/catalogue/builtin/builtin-model.ts';
import type { Source } from '../../../../src/models/catalogue/catalogue.ts';
import {
  billsTokens,
  estimateSpeech,
  longestSpeechRaw,
  meterSpeech,
  speechBoundRaw,
} from '../../../../src/models/speech/speech-usage.ts';
import { ratesOf } from '../../../support/rates-of.ts';

const source = (rates: RateTexts): Source => ({
  rail: 'direct-account',
  provider: 'p',
  upstreamModel: 'm',
  marginBps: 500,
  rates: ratesOf(rates),
});
const request = (input: string, more: object = {}) => ({ model: 'x/y', input, ...more });
const CHARACTERS = source({ character: '15' });
const TOKENS = source({ text_input_token: '0.6', audio_output_token: '12' });

describe('what speech uses', () => {
  it('speech usage in characters is exact', () => {
    expect(meterSpeech(request('añ🙂'), null, CHARACTERS)).toEqual({
      usage: { character: 3 },
      estimated: false,
    });
  });

  it('speech usage in tokens is what the upstream reported', () => {
    const told = { inputTokens: 20, outputTokens: 300 };
    expect(meterSpeech(request('Hello.'), told, TOKENS)).toEqual({
      usage: { character: 6, text_input_token: 20, audio_output_token: 300 },
      estimated: false,
    });
  });

  it('speech usage is estimated and marked so when the upstream reports no tokens', () => {
    const { usage, estimated } = meterSpeech(request('x'.repeat(150)), null, TOKENS);
    // Ten seconds.
    expect(usage).toEqual({ character: 150, text_input_token: 38, audio_output_token: 210 });
    expect(estimated).toBe(true);
  });

  it('speech usage has seconds and the call when the source bills them', () => {
    const both = source({ audio_second: '10', request: '2000' });
    expect(meterSpeech(request('x'.repeat(30)), null, both)).toEqual({
      usage: { character: 30, audio_second: 2, request: 1 },
      estimated: true,
    });
  });

  it('estimated speech is shorter at a higher speed, and longer per character in Chinese', () => {
    const text = 'x'.repeat(150);
    expect(estimateSpeech(request(text)).seconds).toBe(10);
    expect(estimateSpeech(request(text, { speed: 2 })).seconds).toBe(5);
    expect(estimateSpeech(request('好'.repeat(50))).seconds).toBe(10);
    const led = estimateSpeech(request('x', { instructions: 'y'.repeat(39) }));
    expect(led.inputTokens).toBe(10);
  });

  it('speech usage never costs more than the hold when its source bills known units', () => {
    const rates = fc.constantFrom(CHARACTERS, TOKENS, source({ request: '9', character: '1' }));
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), rates, (input, at) => {
        const { usage } = meterSpeech(request(input), null, at);
        const bound = speechBoundRaw(request(input), at);
        expect(priceRaw(usage, at.rates, at.marginBps)).toBeLessThanOrEqual(bound);
        expect(bound).toBeGreaterThan(0n);
      }),
    );
  });

  it('speech of any text costs at most as much as the longest speech with as many characters', () => {
    const rates = fc.constantFrom(CHARACTERS, TOKENS, source({ audio_second: '10' }));
    const speeds = fc.constantFrom(undefined, 0.25, 1, 4);
    fc.assert(
      fc.property(
        fc.string({ minLength: 1, unit: 'binary' }),
        rates,
        speeds,
        (input, at, speed) => {
          const longest = longestSpeechRaw({ characters: input.length, speed }, at);
          expect(speechBoundRaw(request(input, { speed }), at)).toBeLessThanOrEqual(longest);
        },
      ),
    );
    const widest = request('\u8a9e'.repeat(100));
    const longest = longestSpeechRaw({ characters: 100, speed: undefined }, TOKENS);
    expect(longest).toBe(speechBoundRaw(widest, TOKENS));
  });

  it('a speech hold equals the price when the source bills characters', () => {
    expect(speechBoundRaw(request('x'.repeat(1_000)), CHARACTERS)).toBe(15_750n);
  });
});

it('a speech source with token rates is known to bill what only the response tells', () => {
  expect([CHARACTERS, TOKENS].map(billsTokens)).toEqual([false, true]);
});
