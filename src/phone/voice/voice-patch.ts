import { CONFIG_LIMITS } from '../../config/limits.ts';
import { isStorable } from '../../kernel/storable.ts';
import { phoneErrors } from '../errors.ts';
import { PHONE_LIMITS } from '../limits.ts';
import { readVoiceOverrides, type VoiceOverrides } from './conversation-settings.ts';
import { VOICE_MODES, type VoiceMode, type VoiceSettings } from './voice-settings-store.ts';

/** A change of settings as the request has it: an absent member stays as it is, an empty member is cleared. */
export type WantedVoice = Readonly<Record<string, unknown>>;

type Plain = Omit<VoiceSettings, 'voice' | 'conversation' | 'tools' | 'secretVersion'>;

export type VoicePatch = {
  readonly settings: Partial<Plain>;
  readonly overrides: VoiceOverrides;
};

const MOST_CHARS = {
  systemPrompt: PHONE_LIMITS.agent.systemPromptChars,
  beginMessage: PHONE_LIMITS.agent.beginMessageChars,
  model: PHONE_LIMITS.agent.voiceChars,
  webhookUrl: PHONE_LIMITS.agent.webhookUrlChars,
  inboundUrl: PHONE_LIMITS.agent.webhookUrlChars,
} as const;

const SWITCHES = ['recordCalls', 'reportCalls'] as const;

type TextField = keyof typeof MOST_CHARS;

const TEXT_FIELDS = Object.keys(MOST_CHARS) as TextField[];

/** Reads a change by its shape alone; models and URLs are checked elsewhere. Throws when the shape is invalid. */
export function readVoicePatch(wanted: WantedVoice): VoicePatch {
  const { concurrentCalls, voiceMode } = wanted;
  const patch: { -readonly [K in keyof Plain]?: Plain[K] } = {};
  if (voiceMode !== undefined) patch.voiceMode = readMode(voiceMode);
  for (const field of TEXT_FIELDS) {
    const value = wanted[field];
    if (value !== undefined) patch[field] = readText(field, value);
  }
  for (const field of SWITCHES) {
    const value = wanted[field];
    if (value !== undefined) patch[field] = readSwitch(field, value);
  }
  if (concurrentCalls !== undefined) patch.concurrentCalls = readCalls(concurrentCalls);
  return { settings: patch, overrides: readVoiceOverrides(wanted) };
}

function readMode(value: unknown): VoiceMode {
  if (value === '' || value === null) return 'hosted';
  const mode = VOICE_MODES.find((each) => each === value);
  if (mode === undefined) throw phoneErrors.invalidVoiceMode();
  return mode;
}

/** Reads a member that is on or off. Throws when it is neither. */
export function readSwitch(field: string, value: unknown): boolean {
  if (value === undefined || value === '' || value === null) return false;
  if (typeof value === 'boolean') return value;
  throw phoneErrors.invalidVoice(`${field}: must be true or false.`);
}

function readCalls(value: unknown): number | null {
  if (value === '' || value === null) return null;
  const { most } = CONFIG_LIMITS.phone.concurrentCalls;
  const isNumber = typeof value === 'number' && Number.isInteger(value);
  if (isNumber && value >= 1 && value <= most) return value;
  throw phoneErrors.invalidVoice(`concurrentCalls: must be a whole number from 1 to ${most}.`);
}

function readText(field: TextField, value: unknown): string | null {
  if (value === null) return null;
  const wrong = wrongOf(value, MOST_CHARS[field]);
  if (wrong !== undefined) {
    if (field === 'webhookUrl') throw phoneErrors.invalidWebhookUrl(wrong);
    if (field === 'inboundUrl') throw phoneErrors.invalidInboundUrl(wrong);
    throw phoneErrors.invalidVoice(`${field}: ${wrong}.`);
  }
  return value === '' ? null : (value as string);
}

function wrongOf(value: unknown, mostChars: number): string | undefined {
  if (typeof value !== 'string') return 'must be text';
  if (value.length > mostChars) return `at most ${mostChars} characters`;
  return isStorable(value) ? undefined : 'must hold no NUL and no half characters';
}
