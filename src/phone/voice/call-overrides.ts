import { z } from 'zod';
import { isStorable } from '../../kernel/storable.ts';
import type { Catalogue } from '../../models/catalogue/catalogue.ts';
import { type CallValues, type CallVoice, hasOwnResponder } from '../calls/call.ts';
import { phoneErrors } from '../errors.ts';
import { PHONE_LIMITS } from '../limits.ts';
import {
  overrideVoice,
  readVoiceOverrides,
  VOICE_OVERRIDES_SHAPE,
  type VoiceOverrides,
} from './conversation-settings.ts';
import { requireChatModel } from './require-chat-model.ts';

const { beginMessageChars, systemPromptChars, voiceChars } = PHONE_LIMITS.agent;
const { overrides: BOUNDS } = PHONE_LIMITS;

const storable = (mostChars: number) =>
  z
    .string()
    .max(mostChars)
    .refine(isStorable, { message: 'must hold no NUL and no half characters' });

const BAD_NAME = 'the name must have letters, digits and _ alone, up to 64';

const record = (valueChars: number) =>
  z
    .record(
      z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/),
      z.union([storable(valueChars), z.number(), z.boolean()], {
        error: 'must be a text, a number, true or false',
      }),
      { error: ({ code }) => (code === 'invalid_key' ? BAD_NAME : undefined) },
    )
    .refine((given) => Object.keys(given).length <= BOUNDS.entries, {
      message: `must have at most ${BOUNDS.entries} members`,
    });

/** Members of a body that replace the settings of an agent for one call. An empty text clears. */
export const CALL_OVERRIDES_SHAPE = {
  beginMessage: storable(beginMessageChars).optional(),
  systemPrompt: storable(systemPromptChars).optional(),
  model: storable(voiceChars).min(1).optional(),
  /** Replace `{{name}}` in the texts of the call, and are sent to the webhook or application that answers it. */
  variables: record(BOUNDS.variableChars).optional(),
  /** Stands in the events and the report of the call. */
  metadata: record(BOUNDS.metadataChars).optional(),
  ...VOICE_OVERRIDES_SHAPE,
};

export type CallOverrides = {
  readonly texts: { readonly beginMessage?: string; readonly systemPrompt?: string };
  readonly model: string | undefined;
  readonly variables: CallValues | undefined;
  readonly metadata: CallValues | undefined;
  readonly voice: VoiceOverrides;
};

const Overrides = z.object(CALL_OVERRIDES_SHAPE);

/** Reads the overrides of a body that has `CALL_OVERRIDES_SHAPE`. Throws `invalid_voice` for settings of the conversation. */
export function readCallOverrides(body: z.output<typeof Overrides>): CallOverrides {
  const { beginMessage, metadata, model, systemPrompt, variables } = body;
  return {
    texts: {
      ...(beginMessage !== undefined && { beginMessage }),
      ...(systemPrompt !== undefined && { systemPrompt }),
    },
    model,
    variables,
    metadata,
    voice: readVoiceOverrides(body),
  };
}

/**
 * Returns the voice of one call. Throws `invalid_voice` and `invalid_model` for settings that the call cannot have: a model or
 * a prompt beside the developer's own responder, a text that grows too long, and a `{{name}}` without a value.
 */
export function voiceOfCall<V extends CallVoice>(
  catalogue: Pick<Catalogue, 'find' | 'findKeyed' | 'suggest'>,
  settings: V,
  { model, texts, variables, voice }: CallOverrides,
): V {
  if (hasOwnResponder(settings) && (model !== undefined || texts.systemPrompt !== undefined)) {
    const member = model === undefined ? 'systemPrompt' : 'model';
    throw phoneErrors.invalidVoice(
      `${member}: a webhook or an application answers the calls of this agent. Leave it out.`,
    );
  }
  const named = overrideVoice(settings, voice);
  const beginMessage = texts.beginMessage ?? named.beginMessage;
  const systemPrompt = texts.systemPrompt ?? named.systemPrompt;
  return {
    ...named,
    ...(model !== undefined && { model: requireChatModel(catalogue, model) }),
    beginMessage: filled('beginMessage', beginMessage, { variables, mostChars: beginMessageChars }),
    systemPrompt: filled('systemPrompt', systemPrompt, { variables, mostChars: systemPromptChars }),
  };
}

const PLACEHOLDER = /\{\{\s*([A-Za-z_][A-Za-z0-9_]{0,63})\s*\}\}/g;

/** Returns a text with its variables, each replaced once. Without variables the text stays unchanged. */
export function filled(
  member: string,
  text: string | null,
  {
    mostChars,
    variables,
  }: { readonly variables: CallValues | undefined; readonly mostChars: number },
): string | null {
  if (text === null || text === '') return null;
  if (variables === undefined) return text;
  const full = text.replaceAll(PLACEHOLDER, (_, name: string) => {
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    if (value === undefined) {
      throw phoneErrors.invalidVoice(`${member}: "${name}" has no value in variables.`);
    }
    return String(value);
  });
  if (full.length <= mostChars) return full;
  throw phoneErrors.invalidVoice(
    `${member}: ${full.length} characters with its variables; at most ${mostChars}.`,
  );
}
