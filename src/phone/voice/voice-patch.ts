import { errors } from '../../kernel/errors.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { isStorable } from '../../kernel/storable.ts';
import { VOICE_MODES, type VoiceMode, type VoiceSettings } from './voice-settings-store.ts';

/** What a change brings, as it came: an absent member stays as it is, an empty one is cleared. */
export type WantedVoice = Readonly<Partial<Record<keyof VoiceSettings, unknown>>>;

export type VoicePatch = Partial<VoiceSettings>;

const MOST_CHARS = {
  systemPrompt: LIMITS.phone.systemPromptChars,
  beginMessage: LIMITS.phone.beginMessageChars,
  voice: LIMITS.phone.voiceChars,
  model: LIMITS.phone.voiceChars,
  webhookUrl: LIMITS.phone.webhookUrlChars,
} as const;

const SWITCHES = ['recordCalls', 'reportCalls'] as const;

type TextField = keyof typeof MOST_CHARS;

const TEXT_FIELDS = Object.keys(MOST_CHARS) as TextField[];

/** Reads a change by its shape alone; what a model or a URL leads to is asked elsewhere. Throws what is wrong with it. */
export function readVoicePatch(wanted: WantedVoice): VoicePatch {
  const { voiceMode } = wanted;
  const patch: { -readonly [K in keyof VoiceSettings]?: VoiceSettings[K] } = {};
  if (voiceMode !== undefined) patch.voiceMode = readMode(voiceMode);
  for (const field of TEXT_FIELDS) {
    const value = wanted[field];
    if (value !== undefined) patch[field] = readText(field, value);
  }
  for (const field of SWITCHES) {
    const value = wanted[field];
    if (value !== undefined) patch[field] = readSwitch(field, value);
  }
  return patch;
}

function readMode(value: unknown): VoiceMode {
  if (value === '' || value === null) return 'hosted';
  const mode = VOICE_MODES.find((each) => each === value);
  if (mode === undefined) throw errors.phone.invalidVoiceMode();
  return mode;
}

function readSwitch(field: string, value: unknown): boolean {
  if (value === '' || value === null) return false;
  if (typeof value === 'boolean') return value;
  throw errors.phone.invalidVoice(`${field}: must be true or false.`);
}

function readText(field: TextField, value: unknown): string | null {
  if (value === null) return null;
  const wrong = wrongOf(value, MOST_CHARS[field]);
  if (wrong !== undefined) {
    if (field === 'webhookUrl') throw errors.phone.invalidWebhookUrl(wrong);
    throw errors.phone.invalidVoice(`${field}: ${wrong}.`);
  }
  return value === '' ? null : (value as string);
}

function wrongOf(value: unknown, mostChars: number): string | undefined {
  if (typeof value !== 'string') return 'must be text';
  if (value.length > mostChars) return `at most ${mostChars} characters`;
  return isStorable(value) ? undefined : 'must hold no NUL and no half characters';
}
