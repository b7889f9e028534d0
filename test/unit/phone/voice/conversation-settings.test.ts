import { describe, expect, it } from 'vitest';
import type { ApiError } from '../../../../src/kernel/api-error.ts';
import {
  overrideVoice,
  readVoiceOverrides,
} from '../../../../src/phone/voice/conversation-settings.ts';

function refusalOf(body: Readonly<Record<string, unknown>>): string {
  try {
    readVoiceOverrides(body);
    return 'none';
  } catch (error) {
    return String((error as ApiError).fields.detail);
  }
}

describe('the settings of a conversation', () => {
  it('the settings of a conversation are read from a body that has other members, too', () => {
    const settings = {
      turnDetection: { mode: 'patient', minSilenceMs: 200, maxSilenceMs: 4_000, onNumberMs: 1_500 },
      interruption: { enabled: true, minWords: 2, minMs: 250, ignoreWords: ['righto'] },
      idleSeconds: 0,
      keyterms: ['Wickenburg'],
      language: 'en-GB',
      voiceTuning: { speed: 1.2, pronunciations: [{ word: 'SQL', say: 'sequel' }] },
      noiseSuppression: 'on',
    };
    expect(readVoiceOverrides({ ...settings, toNumber: '+14155550100', voice: 'slt' })).toEqual({
      voice: 'slt',
      conversation: settings,
    });
    expect(readVoiceOverrides({ toNumber: '+14155550100' })).toEqual({ conversation: {} });
  });

  it('the settings of a conversation take a voice as a name, or as an object with its name, speed and pronunciations', () => {
    expect(readVoiceOverrides({ voice: { name: 'slt', speed: 0.9 } })).toEqual({
      voice: 'slt',
      conversation: { voiceTuning: { speed: 0.9 } },
    });
    expect(readVoiceOverrides({ voice: { speed: 0.9 } })).toEqual({
      conversation: { voiceTuning: { speed: 0.9 } },
    });
    expect(readVoiceOverrides({ voice: { name: 'slt' } })).toEqual({
      voice: 'slt',
      conversation: {},
    });
    expect(readVoiceOverrides({ voice: '' })).toEqual({ voice: null, conversation: {} });
  });

  it('the settings of a conversation replace whole earlier members, clear null or empty ones, and keep the rest', () => {
    const before = {
      voice: 'rms',
      model: 'local/guide',
      conversation: {
        turnDetection: { mode: 'fast', onNumberMs: 900 },
        language: 'en',
        idleSeconds: 9,
      },
    } as const;
    const overrides = readVoiceOverrides({
      turnDetection: { mode: 'patient' },
      language: null,
      keyterms: '',
    });
    expect(overrideVoice(before, overrides)).toEqual({
      voice: 'rms',
      model: 'local/guide',
      conversation: { turnDetection: { mode: 'patient' }, idleSeconds: 9 },
    });
  });

  it.each<[Readonly<Record<string, unknown>>, string]>([
    [{ turnDetection: { mode: 'slow' } }, 'turnDetection.mode: '],
    [{ turnDetection: { silenceMs: 5 } }, 'turnDetection: Unrecognized key: "silenceMs"'],
    [{ turnDetection: { minSilenceMs: 99 } }, 'turnDetection.minSilenceMs: '],
    [{ turnDetection: { maxSilenceMs: 8_001 } }, 'turnDetection.maxSilenceMs: '],
    [{ turnDetection: { minSilenceMs: 900, maxSilenceMs: 800 } }, 'must not be above maxSilenceMs'],
    [{ turnDetection: [] }, 'turnDetection: '],
    [{ interruption: { enabled: 'yes' } }, 'interruption.enabled: '],
    [{ interruption: { minWords: 11 } }, 'interruption.minWords: '],
    [{ interruption: { minWords: 0 } }, 'interruption.minWords: '],
    [{ interruption: { minMs: 2_001 } }, 'interruption.minMs: '],
    [{ interruption: { ignoreWords: [''] } }, 'interruption.ignoreWords.0: '],
    [{ interruption: { ignoreWords: Array(65).fill('a') } }, 'interruption.ignoreWords: '],
    [{ idleSeconds: 2 }, 'idleSeconds: must be 0 or a whole number from 3 to 300'],
    [{ idleSeconds: 301 }, 'idleSeconds: must be 0'],
    [{ keyterms: 'a b' }, 'keyterms: '],
    [{ keyterms: ['x'.repeat(65)] }, 'keyterms.0: '],
    [{ keyterms: ['a\0b'] }, 'keyterms.0: must hold no NUL'],
    [{ language: 'English' }, 'language: must be a tag such as en-US'],
    [{ voice: 5 }, 'voice: '],
    [{ voice: { speed: 2.1 } }, 'voice.speed: '],
    [{ voice: { speed: 1 }, voiceTuning: { speed: 1 } }, 'voiceTuning: name it once'],
    [{ voiceTuning: { pronunciations: [{ word: 'a' }] } }, 'voiceTuning.pronunciations.0.say: '],
    [{ noiseSuppression: true }, 'noiseSuppression: '],
  ])(
    'the settings of a conversation are refused with the path of the wrong member: %j',
    (body, sentence) => {
      expect(refusalOf(body)).toContain(sentence);
    },
  );
});
