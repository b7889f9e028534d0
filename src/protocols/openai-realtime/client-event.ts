import { z } from 'zod';
import { JsonTooComplex, parseBoundedJson } from '../../kernel/json/parse-json.ts';
import type { Json } from '../../kernel/json.ts';
import { MODEL_LIMITS } from '../../models/limits.ts';
import type { SessionProblem } from '../../voice/session/answer-request.ts';
import { partText } from '../../voice/session/conversation.ts';
import { REALTIME_LIMITS } from './limits.ts';

const Id = z.string().min(1).max(64);
/** Optional id. Null counts as absent, because some clients send every member that they know. */
const OptionalId = Id.nullable()
  .transform((id) => id ?? undefined)
  .optional();
const Text = z.string().max(MODEL_LIMITS.link.itemChars);
const base = { event_id: z.string().max(512).nullish() };

const DETAILS = ['auto', 'low', 'high'] as const;

const Part = z.discriminatedUnion('type', [
  z.object({ type: z.enum(['input_text', 'output_text', 'text']), text: Text }),
  z.object({ type: z.enum(['output_audio', 'audio']), transcript: Text.nullish() }),
  z.object({
    type: z.literal('input_audio'),
    transcript: z
      .string({ error: 'is needed: sound itself goes through input_audio_buffer.append' })
      .max(MODEL_LIMITS.link.itemChars),
  }),
  z.object({
    type: z.literal('input_image'),
    image_url: z
      .string()
      .max(REALTIME_LIMITS.imageChars)
      .regex(/^(data:image\/(png|jpe?g|gif|webp);base64,|https?:\/\/)./i, {
        error: 'must be a data: URL of a PNG, JPEG, GIF or WebP in base64, or an http(s) URL',
      }),
    detail: z.enum(DETAILS).nullish(),
  }),
]);

type Part = z.output<typeof Part>;

const isImage = ({ type }: Part): boolean => type === 'input_image';

export const Item = z.discriminatedUnion('type', [
  z
    .object({
      id: OptionalId,
      type: z.literal('message'),
      role: z.enum(['system', 'user', 'assistant']),
      content: z.array(Part).min(1).max(16),
    })
    .refine(
      ({ content }) =>
        content.reduce((sum, part) => sum + partText(part).length, 0) <=
        MODEL_LIMITS.link.itemChars,
      {
        path: ['content'],
        message: `may have ${MODEL_LIMITS.link.itemChars} characters of text`,
      },
    )
    .refine(({ content, role }) => role === 'user' || !content.some(isImage), {
      path: ['content'],
      message: 'only a user shows images',
    }),
  z.object({
    id: OptionalId,
    type: z.literal('function_call'),
    call_id: Id,
    name: z.string().min(1).max(128),
    arguments: Text,
  }),
  z.object({
    id: OptionalId,
    type: z.literal('function_call_output'),
    call_id: Id,
    output: Text,
  }),
]);

const Event = z.discriminatedUnion('type', [
  z.object({
    ...base,
    type: z.literal('session.update'),
    session: z.unknown().refine((session) => session !== undefined, 'is needed'),
  }),
  // The `session.update` event of the first transcription sessions.
  z.object({
    ...base,
    type: z.literal('transcription_session.update'),
    session: z.unknown().refine((session) => session !== undefined, 'is needed'),
  }),
  z.object({ ...base, type: z.literal('input_audio_buffer.append'), audio: z.string() }),
  z.object({ ...base, type: z.literal('input_audio_buffer.commit') }),
  z.object({ ...base, type: z.literal('input_audio_buffer.clear') }),
  z.object({ ...base, type: z.literal('output_audio_buffer.clear') }),
  z.object({
    ...base,
    type: z.literal('conversation.item.create'),
    item: Item,
    previous_item_id: OptionalId,
  }),
  z.object({ ...base, type: z.literal('conversation.item.retrieve'), item_id: Id }),
  z.object({ ...base, type: z.literal('conversation.item.delete'), item_id: Id }),
  z.object({
    ...base,
    type: z.literal('conversation.item.truncate'),
    item_id: Id,
    content_index: z.number().int().min(0),
    audio_end_ms: z.number().min(0),
  }),
  z.object({ ...base, type: z.literal('response.create'), response: z.unknown().optional() }),
  z.object({ ...base, type: z.literal('response.cancel'), response_id: OptionalId }),
]);

export type ClientEvent = z.output<typeof Event>;
export type ClientItem = z.output<typeof Item>;

/** Reason why an event was refused, with the members of the `error` event. */
export type EventProblem = SessionProblem & {
  readonly param?: string | null;
  /** The client's own id of the event; undefined when it could not be read. */
  readonly eventId?: string | null;
};

const NAMES: ReadonlySet<string> = new Set(Event.options.map((option) => option.shape.type.value));

/** Parses the JSON of an event, or returns the problem. */
export function readEventJson(
  text: string,
): { readonly value: unknown } | { readonly problem: EventProblem } {
  try {
    return { value: parseBoundedJson(text) };
  } catch (problem) {
    const why = problem instanceof JsonTooComplex ? problem.message : 'is not valid JSON';
    return { problem: { code: 'invalid_json', message: `The event ${why}.` } };
  }
}

/** Parses one text frame of a client into an event, or returns the problem. */
export function parseClientEvent(
  text: string,
): { readonly event: ClientEvent } | { readonly problem: EventProblem } {
  const read = readEventJson(text);
  if ('problem' in read) return read;
  const { value } = read;
  const parsed = Event.safeParse(value);
  if (parsed.success) return { event: parsed.data };
  return { problem: describeProblem(value, parsed.error) };
}

function describeProblem(value: unknown, error: z.ZodError): EventProblem {
  const fields = typeof value === 'object' && value !== null ? value : {};
  const eventId =
    'event_id' in fields && typeof fields.event_id === 'string'
      ? fields.event_id.slice(0, 512)
      : null;
  const type = 'type' in fields ? fields.type : undefined;
  if (typeof type !== 'string') {
    return {
      code: 'missing_required_parameter',
      message: 'The event has no type.',
      param: 'type',
      eventId,
    };
  }
  if (!NAMES.has(type)) {
    const name = type.slice(0, 64);
    return {
      code: 'invalid_value',
      message: `There is no client event "${name}".`,
      param: 'type',
      eventId,
    };
  }
  const issue = error.issues[0];
  const path = issue?.path ?? [];
  const param = path.join('.');
  return {
    code: isMissing(value, path) ? 'missing_required_parameter' : 'invalid_value',
    message: `${param}: ${issue?.message ?? 'is invalid'}`,
    param,
    eventId,
  };
}

/** Returns true when `value` has nothing at `path`. */
function isMissing(value: unknown, path: readonly PropertyKey[]): boolean {
  let at = value;
  for (const key of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return true;
    at = Reflect.get(at, key);
  }
  return false;
}

/** Returns the client's own id of an event; null when the event has none. */
export const eventIdOf = ({ event_id: id }: Json): string | null =>
  typeof id === 'string' ? id.slice(0, 512) : null;
