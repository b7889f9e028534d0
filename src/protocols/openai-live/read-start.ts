import { z } from 'zod';
import type { SoundFormat } from '../../../media/coding.ts';
import { MODEL_LIMITS } from '../../models/limits.ts';
import { VOICE_LIMITS } from '../../voice/limits.ts';
import { DEFAULT_CONFIG, type SessionConfig } from '../../voice/session/session-config.ts';
import type { EventProblem } from '../openai-realtime/client-event.ts';
import { REALTIME_LIMITS } from '../openai-realtime/limits.ts';
import { parseLiveFormat } from './audio-format.ts';
import { problemOf } from './client-event.ts';
import { Delegation, delegatedConfig } from './delegation.ts';
import { LIVE_LIMITS } from './limits.ts';

const Text = z.string().max(MODEL_LIMITS.link.itemChars);
const Rate = z.number().int().optional();

const Format = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('audio/pcm'), rate: Rate }),
    z.strictObject({ type: z.literal('audio/pcmu'), rate: Rate }),
    z.strictObject({ type: z.literal('audio/pcma'), rate: Rate }),
  ])
  .transform((value, context): SoundFormat => {
    const format = parseLiveFormat(value);
    if (format !== undefined) return format;
    const message = 'use audio/pcm at 16000 or 24000 Hz, audio/pcmu or audio/pcma at 8000 Hz';
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });

const Voice = z.union([
  z.string().min(1).max(64),
  z.strictObject({ id: z.string().min(1).max(64) }).transform((voice) => voice.id),
]);

const Item = z.strictObject({
  type: z.literal('message').optional(),
  id: z.string().max(64).nullish(),
  status: z.enum(['incomplete', 'completed']).nullish(),
  role: z.enum(['developer', 'user', 'assistant']),
  content: z.tuple([
    z.strictObject({ type: z.enum(['input_text', 'output_text', 'text']).optional(), text: Text }),
  ]),
});

const Session = z.strictObject({
  model: z.string().min(1).max(MODEL_LIMITS.idChars),
  audio: z
    .strictObject({
      format: Format.optional(),
      output: z.strictObject({ voice: Voice.optional() }).optional(),
    })
    .optional(),
  delegation: Delegation.nullish(),
  input: z
    .array(Item)
    .max(LIVE_LIMITS.items)
    .refine(
      (items) =>
        items.reduce((sum, { content }) => sum + content[0].text.length, 0) <=
        VOICE_LIMITS.realtime.conversationChars,
      `may have ${VOICE_LIMITS.realtime.conversationChars} characters`,
    )
    .optional(),
  instructions: z.string().max(REALTIME_LIMITS.instructionsChars).nullish(),
  store: z.literal(false, { error: 'sessions are not stored here' }).optional(),
  triggers: z.array(z.unknown()).max(0, 'triggers are not served here').optional(),
});

type LiveItem = z.output<typeof Item>;

/** Settings with which a live session on this server begins. Plain data: recordings keep them. */
export type LiveStart = {
  /** Model id, under the client's name for it. */
  readonly model: string;
  readonly instructions: string;
  readonly delegation: Delegation;
  readonly items: readonly LiveItem[];
  /** The client's own event id of its `session.start`. */
  readonly eventId: string | null;
};

export type ReadStart = {
  readonly start: LiveStart;
  readonly config: SessionConfig;
  /** Model id of the session's backend, which the delegation names. Undefined when the session delegates to its application. */
  readonly backend: string | undefined;
};

/** Parses the settings of a session on this server, or returns the problem. */
export function readStart(
  session: unknown,
  eventId: string | null,
): ReadStart | { readonly problem: EventProblem } {
  const parsed = Session.safeParse(session);
  if (!parsed.success) return { problem: problemOf(parsed.error, 'session', eventId) };
  const { audio, delegation: given, input = [], instructions: told, model } = parsed.data;
  const delegation: Delegation = given ?? { type: 'client' };
  const instructions = told ?? '';
  const format = audio?.format ?? DEFAULT_CONFIG.inputFormat;
  const settings: SessionConfig = {
    ...DEFAULT_CONFIG,
    inputFormat: format,
    outputFormat: format,
    voice: audio?.output?.voice ?? DEFAULT_CONFIG.voice,
  };
  return {
    start: { model, instructions, delegation, eventId, items: input },
    config: delegatedConfig(settings, instructions, delegation),
    backend: delegation.type === 'responses' ? delegation.responses.model : undefined,
  };
}
