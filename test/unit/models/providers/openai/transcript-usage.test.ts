import { describe, expect, it } from 'vitest';
import { readTranscriptUsage } from '../../../../../src/models/providers/openai/transcript-usage.ts';

describe('what a transcript says that it used', () => {
  it('a transcript’s usage is the seconds that the upstream bills, else the measured duration', () => {
    expect(readTranscriptUsage({ duration: 8.4700001, usage: { seconds: 9 } }).seconds).toBe(9);
    expect(readTranscriptUsage({ duration: 8.4700001 }).seconds).toBe(8.471);
    expect(readTranscriptUsage({ duration: '8.47' }).seconds).toBe(8.47);
  });

  it.each([0, -1, Number.NaN, 1e9, null, 'long', {}])(
    'a transcript’s usage of %s seconds is ignored',
    (seconds) => {
      expect(readTranscriptUsage({ usage: { seconds } }).seconds).toBeNull();
    },
  );

  it('a transcript’s usage in tokens is split as the upstream splits it', () => {
    const usage = { input_tokens: 14, output_tokens: 45, input_token_details: { text_tokens: 4 } };
    const tokens = { inputAudio: 10, inputText: 4, output: 45 };
    expect(readTranscriptUsage({ usage })).toEqual({ seconds: null, tokens });
    expect(readTranscriptUsage({ usage: { ...usage, output_tokens: -1 } }).tokens).toBeNull();
    const lie = { ...usage, input_token_details: { text_tokens: 99 } };
    expect(readTranscriptUsage({ usage: lie }).tokens).toEqual({
      inputAudio: 0,
      inputText: 14,
      output: 45,
    });
  });
});
