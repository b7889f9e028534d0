import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../../../src/kernel/limits.ts';
import type { Model } from '../../../../src/models/catalogue/catalogue.ts';
import { TurnBound } from '../../../../src/voice/relay/turn-bound.ts';

const NONE = { textIn: 0, audioIn: 0, cachedText: 0, cachedAudio: 0, textOut: 0, audioOut: 0 };
const boundOf = (more: Partial<Model> = {}) =>
  new TurnBound({
    ...{ id: 'acme/v', modality: 'realtime', contextWindow: null, maxOutputTokens: null },
    ...{ sources: [], ...more },
  });

describe('the bound of a relayed turn', () => {
  it('is what the client sent and the upstream answered before', () => {
    const bound = boundOf();
    bound.carried('up', 1_000, false);
    bound.carried('up', 2_000_000, true);
    const most = LIMITS.realtimeInputTokens + 1_000 + 2_000;
    const lie = { ...NONE, audioIn: 1_000_000, audioOut: 500 };
    expect(bound.turn(lie)).toEqual({
      tokens: { ...NONE, audioIn: most, audioOut: 500 },
      isImpossible: true,
    });
    // The answer is part of the conversation from then on.
    expect(bound.turn(lie).tokens.audioIn).toBe(most + 500);
  });

  it('is the context window and the longest answer of the model where these are known', () => {
    const bound = boundOf({ contextWindow: 200, maxOutputTokens: 50 });
    bound.carried('down', 1_000_000, false);
    const reported = { ...NONE, textIn: 150, audioIn: 150, textOut: 40, audioOut: 40 };
    expect(bound.turn({ ...reported, cachedAudio: 100 }).tokens).toEqual({
      ...{ textIn: 150, audioIn: 50, cachedText: 0, cachedAudio: 50, textOut: 40, audioOut: 10 },
    });
  });

  it('allows the length of the answer that was carried, where the longest is not known', () => {
    const bound = boundOf();
    bound.carried('down', 100_000, false);
    expect(bound.turn({ ...NONE, audioOut: 1_000_000 }).tokens.audioOut).toBe(3_125);
    expect(bound.turn({ ...NONE, audioOut: 1_000_000 }).tokens.audioOut).toBe(
      LIMITS.defaultOutputTokens,
    );
  });

  it('counts the sound of all transcripts together', () => {
    const bound = boundOf();
    bound.carried('up', 1_000_000, true);
    const most = 1_000 + LIMITS.unaskedTokens;
    expect(bound.heard({ ...NONE, audioIn: 2_000 }).tokens.audioIn).toBe(2_000);
    expect(bound.heard({ ...NONE, audioIn: 2_000 }).tokens.audioIn).toBe(most - 2_000);
  });
});
