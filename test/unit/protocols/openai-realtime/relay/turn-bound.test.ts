import { describe, expect, it } from 'vitest';
import type { Model, Source } from '../../../../../src/models/catalogue/catalogue.ts';
import { MODEL_LIMITS } from '../../../../../src/models/limits.ts';
import { REALTIME_LIMITS } from '../../../../../src/protocols/openai-realtime/limits.ts';
import { TurnBound } from '../../../../../src/protocols/openai-realtime/relay/turn-bound.ts';

const NONE = { textIn: 0, audioIn: 0, cachedText: 0, cachedAudio: 0, textOut: 0, audioOut: 0 };
const boundOf = (more: Partial<Model> = {}, source: Pick<Source, 'efforts'> = {}) =>
  new TurnBound(
    {
      id: 'acme/v',
      modality: 'realtime',
      contextWindow: null,
      maxOutputTokens: null,
      sources: [],
      ...more,
    },
    source,
  );
const FRAME = { bytes: 0, tokens: 0 };
const { answered, heard } = REALTIME_LIMITS.uncarriedTokens;

describe('the bound of a relayed turn', () => {
  it('the bound of a relayed turn is what the client sent and the upstream answered before', () => {
    const bound = boundOf();
    bound.sent(1_000, false);
    bound.sent(2_000_000, true);
    bound.received({ ...FRAME, spokenTokens: 500 });
    const most = MODEL_LIMITS.usage.unaskedTokens + 1_000 + 2_000;
    const sound = 2_001 + heard;
    const lie = { ...NONE, audioIn: 1_000_000, audioOut: 500 };
    expect(bound.turn(lie)).toEqual({
      tokens: { ...NONE, textIn: most - sound, audioIn: sound, audioOut: 500 },
      isImpossible: true,
    });
    // The answer is part of the conversation from then on.
    expect(bound.turn({ ...lie, audioIn: sound + 500, audioOut: 0 }).tokens).toEqual({
      ...NONE,
      audioIn: sound + 500,
    });
  });

  it('the bound of a relayed turn counts tokens beyond the relayed audio as text, with their cached part', () => {
    const reported = { ...NONE, audioIn: heard + 100, cachedAudio: heard + 50 };
    expect(boundOf().turn(reported)).toEqual({
      tokens: { ...NONE, textIn: 100, audioIn: heard, cachedText: 50, cachedAudio: heard },
      isImpossible: false,
    });
  });

  it('the bound of a relayed turn is the context window and the longest answer of the model when these are known', () => {
    const bound = boundOf({ contextWindow: 200, maxOutputTokens: 50 });
    bound.received({ ...FRAME, spokenTokens: 1_000_000 });
    const reported = { ...NONE, textIn: 150, audioIn: 150, textOut: 40, audioOut: 40 };
    expect(bound.turn({ ...reported, cachedAudio: 100 }).tokens).toEqual({
      textIn: 150,
      audioIn: 50,
      cachedText: 0,
      cachedAudio: 50,
      textOut: 40,
      audioOut: 10,
    });
  });

  it('the bound of a relayed turn counts each relayed answer once, and a fixed slack for the rest', () => {
    const bound = boundOf();
    bound.received({ ...FRAME, spokenTokens: 3_125, writtenTokens: 10 });
    const lie = { ...NONE, audioOut: 3_125 + answered };
    expect(bound.turn(lie)).toEqual({ tokens: lie, isImpossible: false });
    expect(bound.turn(lie)).toEqual({
      tokens: { ...NONE, textOut: 10, audioOut: answered },
      isImpossible: true,
    });
  });

  it('the bound of a relayed turn leaves room for the thoughts of a reasoning model, which are text', () => {
    const bound = boundOf({ maxOutputTokens: 4_000 }, { efforts: ['low'] });
    const reported = { ...NONE, textOut: 3_900, audioOut: 90 };
    expect(bound.turn(reported)).toEqual({
      tokens: { ...NONE, textOut: 3_926, audioOut: 64 },
      isImpossible: false,
    });
  });

  it('the bound of a relayed turn reads items that an upstream adds to the conversation, such as an MCP result', () => {
    const bound = boundOf();
    bound.received({ ...FRAME, itemBytes: 50_000 });
    const reported = { ...NONE, textIn: 40_000 };
    expect(bound.turn(reported)).toEqual({ tokens: reported, isImpossible: false });
  });

  it('the bound of a relayed turn counts the audio of all transcripts together', () => {
    const bound = boundOf();
    bound.sent(1_000_000, true);
    const most = 1_000 + MODEL_LIMITS.usage.unaskedTokens;
    expect(bound.heard({ ...NONE, audioIn: 2_000 }).tokens.audioIn).toBe(2_000);
    expect(bound.heard({ ...NONE, audioIn: 2_000 }).tokens.audioIn).toBe(most - 2_000);
  });
});
