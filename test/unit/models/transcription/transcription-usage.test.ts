import { describe, expect, it } from 'vitest';
import type { Rates } from '../../../../src/kernel/price.ts';
import type { Source } from '../../../../src/models/catalogue/catalogue.ts';
import {
  meterTranscription,
  transcriptionBoundRaw,
} from '../../../../src/models/transcription/transcription-usage.ts';

const source = (rates: Rates): Source => ({
  rail: 'direct-account',
  provider: 'acme',
  upstreamModel: 'ears',
  marginBps: 0,
  rates,
});
const bySecond = source({ audio_second: 100_000_000n });
const byToken = source({ audio_input_token: 1_000_000n, text_output_token: 2_000_000n });
const sound = { durationMs: 1_234, prompt: 'four' };
const untold = { seconds: null, tokens: null };

describe('what a transcription used', () => {
  it('transcription usage is the seconds that the upstream reports, else the file’s duration in milliseconds', () => {
    const usage = (seconds: number | null) =>
      meterTranscription(sound, { ...untold, seconds }, bySecond);
    expect(usage(null)).toEqual({ usage: { audio_second: 1.234 }, estimated: false });
    expect(usage(2).usage).toEqual({ audio_second: 2 });
    expect(usage(1).usage).toEqual({ audio_second: 1 });
  });

  it('transcription usage has tokens when the source bills them, reported or estimated', () => {
    const tokens = { inputAudio: 14, inputText: 3, output: 45 };
    expect(meterTranscription(sound, { seconds: null, tokens }, byToken)).toEqual({
      usage: { audio_second: 1.234, audio_input_token: 14, text_output_token: 45 },
      estimated: false,
    });
    const { estimated, usage } = meterTranscription(sound, untold, byToken);
    expect(estimated).toBe(true);
    expect(usage).toMatchObject({ audio_input_token: 13, text_output_token: 7 });
  });

  it('transcription holds are rounded up to whole seconds', () => {
    expect(transcriptionBoundRaw(sound, bySecond)).toBe(200n);
    expect(transcriptionBoundRaw({ ...sound, durationMs: 2_000 }, bySecond)).toBe(200n);
    expect(transcriptionBoundRaw(sound, byToken)).toBe(84n);
  });
});
