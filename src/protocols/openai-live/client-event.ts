import { z } from 'zod';
import { isObject, type Json } from '../../kernel/json.ts';
import { MODEL_LIMITS } from '../../models/limits.ts';
import { type EventProblem, eventIdOf, readEventJson } from '../openai-realtime/client-event.ts';
import { DelegationUpdate } from './delegation.ts';
import { LIVE_LIMITS } from './limits.ts';

const EventId = z.string().max(512).nullish();
const base = { event_id: EventId };
const Text = z.string().max(MODEL_LIMITS.link.itemChars);
const appended = {
  ...base,
  content: z.string().min(1).max(LIVE_LIMITS.appendChars),
  delegation_id: z.string().max(64).nullable(),
};

const Part = z.object({ type: z.enum(['input_text', 'output_text', 'text']), text: Text });

const BackendItem = z.union([
  z.object({
    type: z.literal('function_call_output'),
    call_id: z.string().min(1).max(64),
    output: z.union([Text, z.array(Part).max(16)]),
  }),
  z.object({
    type: z.literal('message').optional(),
    role: z.enum(['system', 'developer', 'user', 'assistant']),
    content: z.union([Text, z.array(Part).min(1).max(16)]),
  }),
]);

export type BackendItem = z.output<typeof BackendItem>;

const Event = z.discriminatedUnion('type', [
  z.object({
    ...base,
    type: z.literal('session.update'),
    session: z.strictObject({
      delegation: DelegationUpdate.nullish(),
      triggers: z.array(z.unknown()).max(0, 'triggers are not served here').optional(),
    }),
  }),
  z.object({ ...base, type: z.literal('session.input_audio.append'), audio: z.string() }),
  z.object({ ...base, type: z.literal('session.input_audio.mute') }),
  z.object({ ...base, type: z.literal('session.input_audio.unmute') }),
  z.object({ ...appended, type: z.literal('session.instructions.append') }),
  z.object({ ...appended, type: z.literal('session.thinking.append') }),
  z.object({ ...appended, type: z.literal('session.commentary.append') }),
  z.object({ ...base, type: z.literal('response.item.create'), item: BackendItem }),
  z.object({ ...base, type: z.literal('response.create') }),
  z.object({ ...base, type: z.literal('session.close') }),
]);

export type LiveClientEvent = z.output<typeof Event>;

const SERVED: ReadonlySet<string> = new Set(
  Event.options.map((option) => option.shape.type.value as string),
);

/**
 * Further event types of the protocol, which this server does not execute. An upstream whose bill goes to the client receives
 * them.
 */
const UNSERVED: ReadonlySet<string> = new Set([
  'session.start',
  'session.output_audio.fixture.play',
  'decision.create',
  'decision.item.create',
  'decision.item.delete',
]);

/** An event with a type, whose other members are not checked yet. */
export type RawLiveEvent = Json & { readonly type: string };

/** Parses a client's message into an event with a type. Returns the problem of a message that is none. */
export function readRawEvent(
  text: string,
): { readonly raw: RawLiveEvent } | { readonly problem: EventProblem } {
  const read = readEventJson(text);
  if ('problem' in read) return read;
  const { value } = read;
  if (!isObject(value) || typeof value.type !== 'string') {
    const message = 'The event has no type.';
    return { problem: { code: 'missing_required_parameter', message, param: 'type' } };
  }
  return { raw: value as RawLiveEvent };
}

/** Checks an event of a session that has started, or returns the problem. */
export function readLiveClientEvent(
  raw: RawLiveEvent,
): { readonly event: LiveClientEvent } | { readonly problem: EventProblem } {
  const eventId = eventIdOf(raw);
  if (!SERVED.has(raw.type)) return { problem: { ...unservedEvent(raw.type), eventId } };
  const parsed = Event.safeParse(raw);
  return parsed.success
    ? { event: parsed.data }
    : { problem: problemOf(parsed.error, undefined, eventId) };
}

/** Returns the reason why an event of this type is not executed on this server. */
export function unservedEvent(type: string): EventProblem {
  if (type === 'session.start') {
    const message = 'The session has started already; open another socket for another session.';
    return { code: 'session_already_started', message, param: 'type' };
  }
  const name = type.slice(0, 64);
  return UNSERVED.has(type)
    ? { code: 'unsupported_event', message: `"${name}" is not served here.`, param: 'type' }
    : { code: 'invalid_value', message: `There is no client event "${name}".`, param: 'type' };
}

/** Returns true when the protocol has a client event of this name. */
export const isLiveEventName = (type: string): boolean => SERVED.has(type) || UNSERVED.has(type);

/** Returns the first problem of an event, or of its member `within`. */
export function problemOf(
  error: z.ZodError,
  within: string | undefined,
  eventId: string | null,
): EventProblem {
  const issue = error.issues[0];
  const isUnknown = issue?.code === 'unrecognized_keys';
  const last = isUnknown ? issue.keys.slice(0, 1) : [];
  const path = [...(within === undefined ? [] : [within]), ...(issue?.path ?? []), ...last];
  const param = path.join('.').slice(0, 256);
  const why = isUnknown ? 'there is no such member' : (issue?.message ?? 'is invalid');
  return {
    code: isUnknown ? 'unknown_parameter' : 'invalid_value',
    message: `${param}: ${why}`,
    param,
    eventId,
  };
}
