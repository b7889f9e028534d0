import fc from 'fast-check';
import { expect, test } from 'vitest';
import { renderUsage } from '../../../../src/protocols/openai-realtime/response-usage.ts';
import { boughtSoundTokens, soundTokens } from '../../../../src/voice/billing/turn-meter.ts';

const amount = fc.nat(1_000_000);
const use = fc.record({
  textIn: amount,
  textOut: amount,
  cachedIn: amount,
  heardMs: amount,
  spokenMs: amount,
  spokenChars: amount,
});

test('each total in the usage of a turn is the sum of its details', () => {
  fc.assert(
    fc.property(use, fc.boolean(), (used, isText) => {
      const bought = [
        { usage: { audio_output_token: used.spokenMs } },
        { usage: { character: 1 } },
      ];
      const sound = isText ? boughtSoundTokens(bought) : soundTokens(used);
      const usage = renderUsage({ ...used, ...sound });
      const { input_token_details: input, output_token_details: output } = usage;
      expect(usage.total_tokens).toBe(usage.input_tokens + usage.output_tokens);
      expect(usage.input_tokens).toBe(input.text_tokens + input.audio_tokens + input.image_tokens);
      expect(usage.output_tokens).toBe(output.text_tokens + output.audio_tokens);
    }),
  );
});

test('audio of a cascade counts as tokens when its synthesizer bills audio by tokens', () => {
  const bought = [
    { usage: { text_input_token: 20, text_output_token: 8 } },
    { usage: { character: 9, audio_output_token: 30 } },
    { usage: { character: 12, audio_output_token: 40 } },
    // The transcript reports the sound heard.
    { usage: { audio_input_token: 50 } },
  ];
  expect(boughtSoundTokens(bought)).toEqual({ heard: 0, spoken: 70 });
  expect(boughtSoundTokens([{ usage: { audio_second: 2 } }])).toEqual({ heard: 0, spoken: 0 });
});
