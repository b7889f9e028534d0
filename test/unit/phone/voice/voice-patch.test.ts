import { describe, expect, it } from 'vitest';
import type { ApiError } from '../../../../src/kernel/api-error.ts';
import { readVoicePatch, type WantedVoice } from '../../../../src/phone/voice/voice-patch.ts';

function refusalOf(wanted: WantedVoice): string | undefined {
  try {
    readVoicePatch(wanted);
    return undefined;
  } catch (error) {
    return (error as ApiError).error;
  }
}

describe('a change of voice settings', () => {
  it('a change of voice settings leaves unnamed members, and clears empty ones', () => {
    expect(readVoicePatch({})).toEqual({ settings: {}, overrides: { conversation: {} } });
    expect(
      readVoicePatch({ voiceMode: '', systemPrompt: '', beginMessage: null, voice: ' a ' }),
    ).toEqual({
      settings: { voiceMode: 'hosted', systemPrompt: null, beginMessage: null },
      overrides: { voice: ' a ', conversation: {} },
    });
  });

  it.each<[WantedVoice, string]>([
    [{ voiceMode: 'Webhook' }, 'invalid_voice_mode'],
    [{ voiceMode: 1 }, 'invalid_voice_mode'],
    [{ webhookUrl: 1 }, 'invalid_webhook_url'],
    [{ webhookUrl: `https://example.com/${'x'.repeat(2_048)}` }, 'invalid_webhook_url'],
    [{ systemPrompt: ['x'] }, 'invalid_voice'],
    [{ systemPrompt: 'x'.repeat(16_385) }, 'invalid_voice'],
    [{ beginMessage: 'x'.repeat(1_501) }, 'invalid_voice'],
    [{ voice: 'x'.repeat(129) }, 'invalid_voice'],
    [{ beginMessage: 'a\0b' }, 'invalid_voice'],
    [{ systemPrompt: '\ud800' }, 'invalid_voice'],
  ])('a change of voice settings is refused when a member is invalid (%#)', (wanted, error) => {
    expect(refusalOf(wanted)).toBe(error);
  });

  it('a change of voice settings accepts texts of the maximum length', () => {
    expect(refusalOf({ systemPrompt: 'x'.repeat(16_384), voice: 'x'.repeat(128) })).toBeUndefined();
  });
});
