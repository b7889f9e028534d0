import { z } from 'zod';
import { isStorable } from '../../kernel/storable.ts';
import { phoneErrors } from '../errors.ts';
import { PHONE_LIMITS } from '../limits.ts';

const { conversation: BOUNDS } = PHONE_LIMITS;
const { voiceChars } = PHONE_LIMITS.agent;

const milliseconds = ({ least, most }: { readonly least: number; readonly most: number }) =>
  z.int().min(least).max(most);

const word = (mostChars: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(mostChars)
    .refine(isStorable, { message: 'must hold no NUL and no half characters' });

/** Silence after the caller's last word that ends the turn. An absent member has the value of its mode. */
const TurnDetectionSettings = z
  .strictObject({
    mode: z.enum(['fast', 'balanced', 'patient']).optional(),
    minSilenceMs: milliseconds(BOUNDS.silenceMs).optional(),
    maxSilenceMs: milliseconds(BOUNDS.silenceMs).optional(),
    onNumberMs: milliseconds(BOUNDS.silenceMs).optional(),
    onNoPunctuationMs: milliseconds(BOUNDS.silenceMs).optional(),
  })
  .refine(({ maxSilenceMs, minSilenceMs }) => (minSilenceMs ?? 0) <= (maxSilenceMs ?? Infinity), {
    path: ['minSilenceMs'],
    message: 'must not be above maxSilenceMs',
  });

/** Rules by which the caller's speech interrupts an answer. */
const InterruptionSettings = z.strictObject({
  enabled: z.boolean().optional(),
  minWords: z.int().min(1).max(BOUNDS.minWords).optional(),
  minMs: milliseconds(BOUNDS.interruptionMs).optional(),
  ignoreWords: z.array(word(BOUNDS.wordChars)).max(BOUNDS.ignoreWords).optional(),
});

/** Speed of the voice, and words that it says as another text. */
const VoiceTuning = z.strictObject({
  speed: z.number().min(BOUNDS.speed.least).max(BOUNDS.speed.most).optional(),
  pronunciations: z
    .array(z.strictObject({ word: word(BOUNDS.wordChars), say: word(BOUNDS.sayChars) }))
    .max(BOUNDS.pronunciations)
    .optional(),
});

const VoiceName = z
  .string()
  .max(voiceChars)
  .refine(isStorable, { message: 'must hold no NUL and no half characters' });

const NamedVoice = VoiceTuning.extend({ name: VoiceName.optional() });

const MEMBERS = {
  turnDetection: TurnDetectionSettings,
  interruption: InterruptionSettings,
  /** Silence until the caller is prompted; 0: never. */
  idleSeconds: z
    .int()
    .refine(
      (seconds) => seconds === 0 || (seconds >= BOUNDS.idle.least && seconds <= BOUNDS.idle.most),
      {
        message: `must be 0 or a whole number from ${BOUNDS.idle.least} to ${BOUNDS.idle.most}`,
      },
    ),
  keyterms: z.array(word(BOUNDS.wordChars)).max(BOUNDS.keyterms),
  language: z
    .string()
    .regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8}){0,4}$/, 'must be a tag such as en-US'),
  voiceTuning: VoiceTuning,
  noiseSuppression: z.enum(['off', 'on', 'auto']),
};

const Settings = z.object(MEMBERS).partial();

/** Settings by which an agent listens and speaks on the phone. An absent member has its default. */
export type ConversationSettings = z.output<typeof Settings>;

/** Settings that replace an agent's settings. An absent member changes nothing, and null sets the default. */
export type VoiceOverrides = {
  readonly voice?: string | null;
  readonly conversation: {
    readonly [K in keyof ConversationSettings]?: ConversationSettings[K] | null;
  };
};

type Voiced = {
  readonly voice: string | null;
  readonly conversation?: ConversationSettings | undefined;
};

const FIELDS = Object.keys(MEMBERS) as (keyof ConversationSettings)[];

/** Returns the schema of a body member for the route's documentation; `readVoiceOverrides` validates the member. */
const described = (schema: z.ZodType) => {
  const { $schema: _, ...shape } = z.toJSONSchema(schema, { io: 'input' });
  return z.unknown().meta(shape).optional();
};

/** The members that `readVoiceOverrides` reads, for the description of a route's body. It checks nothing. */
export const VOICE_OVERRIDES_SHAPE = {
  voice: described(z.union([VoiceName, NamedVoice])),
  turnDetection: described(MEMBERS.turnDetection),
  interruption: described(MEMBERS.interruption),
  idleSeconds: described(MEMBERS.idleSeconds),
  keyterms: described(MEMBERS.keyterms),
  language: described(MEMBERS.language),
  voiceTuning: described(MEMBERS.voiceTuning),
  noiseSuppression: described(MEMBERS.noiseSuppression),
};

/** The settings as a route shows them. */
export const CONVERSATION_SHAPE = Settings.shape;

/**
 * Reads the settings of a conversation from any body and ignores its other members. `voice` is the name of a voice, or an
 * object of `name`, `speed` and `pronunciations`. Throws `invalid_voice`, which names the member.
 */
export function readVoiceOverrides(body: Readonly<Record<string, unknown>>): VoiceOverrides {
  const conversation: Record<string, unknown> = {};
  for (const field of FIELDS) {
    const value = body[field];
    if (value === undefined) continue;
    conversation[field] = isCleared(value) ? null : read(field, MEMBERS[field] as z.ZodType, value);
  }
  const { voice } = body;
  if (voice === undefined) return { conversation };
  if (isCleared(voice)) return { voice: null, conversation };
  if (typeof voice !== 'object') return { voice: read('voice', VoiceName, voice), conversation };
  const { name, ...tuning } = read('voice', NamedVoice, voice);
  if (Object.keys(tuning).length > 0) {
    if (conversation.voiceTuning !== undefined) {
      throw phoneErrors.invalidVoice('voiceTuning: name it once; voice has these members, too.');
    }
    conversation.voiceTuning = tuning;
  }
  return { ...(name !== undefined && { voice: name }), conversation };
}

/** Returns the settings with the members of the overrides, each of which replaces the whole earlier member. */
export function overrideVoice<V extends Voiced>(settings: V, overrides: VoiceOverrides): V {
  const { conversation, voice = settings.voice } = overrides;
  const merged = Object.entries({ ...settings.conversation, ...conversation });
  return {
    ...settings,
    voice,
    conversation: Object.fromEntries(merged.filter(([, value]) => value !== null)),
  };
}

const isCleared = (value: unknown): boolean => value === null || value === '';

function read<T>(field: string, schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const place = [field, ...(issue?.path ?? [])].join('.');
  throw phoneErrors.invalidVoice(`${place}: ${issue?.message ?? 'is wrong'}.`);
}
