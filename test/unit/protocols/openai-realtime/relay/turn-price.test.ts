import { describe, expect, it } from 'vitest';
import { byokSource } from '../../../../../src/models/catalogue/byok-source.ts';
import type { Model, Source } from '../../../../../src/models/catalogue/catalogue.ts';
import { MODEL_LIMITS } from '../../../../../src/models/limits.ts';
import {
  isBilledByTime,
  relayTurnRaw,
  tokenUsage,
} from '../../../../../src/protocols/openai-realtime/relay/turn-price.ts';
import { ratesOf } from '../../../../support/rates-of.ts';
import { TOKEN_RATES, TURN_RAW } from '../../../../support/relay-world.ts';

const source = (rates: Record<string, string>): Source => ({
  rail: 'direct-account',
  provider: 'acme',
  upstreamModel: 'v',
  marginBps: 0,
  rates: ratesOf(rates),
});
const SOUND = source(TOKEN_RATES as Record<string, string>);
const model: Model = {
  id: 'acme/v',
  modality: 'realtime',
  contextWindow: null,
  maxOutputTokens: null,
  sources: [SOUND],
};
const TOKENS = {
  textIn: 100,
  audioIn: 200,
  cachedText: 60,
  cachedAudio: 50,
  textOut: 10,
  audioOut: 20,
};

describe('the price of a relayed turn', () => {
  it('the price of a relayed turn counts cached tokens at their own rate, and not also at the full rate', () => {
    expect(tokenUsage(SOUND, TOKENS, 1)).toEqual({
      text_input_token: 40,
      audio_input_token: 150,
      cached_input_token: 110,
      text_output_token: 10,
      audio_output_token: 20,
    });
  });

  it('the price of a relayed turn counts cached tokens at the full rate when a source has no rate for them', () => {
    const { cached_input_token: _, ...rates } = TOKEN_RATES as Record<string, string>;
    expect(tokenUsage(source(rates), TOKENS, 1)).toMatchObject({
      text_input_token: 100,
      audio_input_token: 200,
    });
  });

  it('the price of a relayed turn is the fee alone when the agent pays for the tokens with an own key', () => {
    expect(tokenUsage(byokSource('acme', 'v'), TOKENS, 1)).toEqual({ request: 1 });
    expect(relayTurnRaw(model, byokSource('acme', 'v'), 50_000)).toBe(MODEL_LIMITS.byokFeeRaw);
  });

  it('the price of a relayed turn is bounded by the longest answer to all that was said, at the dearest token rate', () => {
    expect(relayTurnRaw(model, SOUND, 0)).toBe(TURN_RAW);
    expect(relayTurnRaw(model, SOUND, 1_000)).toBe(TURN_RAW + 1_000n);
    const short = { ...model, contextWindow: 2_000, maxOutputTokens: 10 };
    expect(relayTurnRaw(short, SOUND, 90_000)).toBe(2_020n);
  });

  it('the price of a relayed turn is by time when the source has a rate for nothing else', () => {
    expect(isBilledByTime(source({ audio_second: '1' }))).toBe(true);
    expect(isBilledByTime(SOUND)).toBe(false);
    expect(isBilledByTime(byokSource('acme', 'v'))).toBe(false);
  });
});
