import { LIVE_APPEND } from '../../../media/message/sound-message.ts';
import { isObject, type Json } from '../../kernel/json.ts';
import { type EventProblem, eventIdOf } from '../openai-realtime/client-event.ts';
import { readAppend } from '../openai-realtime/read-append.ts';
import { isLiveEventName, type RawLiveEvent, readRawEvent, unservedEvent } from './client-event.ts';

export type PassedOn =
  | { readonly kind: 'sound'; readonly bytes: number }
  | { readonly kind: 'event'; readonly text: string }
  | { readonly kind: 'refused'; readonly problem: EventProblem };

/**
 * Checks a client's frame for a session at an upstream. Audio passes unchanged; every other event is parsed and rewritten, so
 * that the upstream reads exactly what was checked. Only a client that the upstream bills itself (`isOwnKey`) may use features
 * with extra charges.
 */
export function judgeUplink(frame: Uint8Array, isOwnKey: boolean): PassedOn {
  const sound = readAppend(frame, LIVE_APPEND);
  if (sound !== undefined) return { kind: 'sound', bytes: sound.length };
  const text = Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength).toString('utf8');
  const read = readRawEvent(text);
  if ('problem' in read) return { kind: 'refused', problem: read.problem };
  const problem = problemOf(read.raw, isOwnKey);
  return problem === undefined
    ? { kind: 'event', text: JSON.stringify(read.raw) }
    : { kind: 'refused', problem: { ...problem, eventId: eventIdOf(read.raw) } };
}

function problemOf(raw: RawLiveEvent, isOwnKey: boolean): EventProblem | undefined {
  const { type } = raw;
  if (type === 'session.start') return unservedEvent(type);
  if (isOwnKey) return undefined;
  if (!isLiveEventName(type) || type.startsWith('decision.')) return unservedEvent(type);
  return type === 'session.update' ? ownKeyProblem(raw.session) : undefined;
}

/** Refusal of settings that an upstream bills in addition to the seconds of a session. */
const BILLED_APART: EventProblem = {
  code: 'unsupported_parameter',
  message:
    'session.delegation: the upstream bills a backend and triggers apart, which needs a key of your own there; delegate to your application instead.',
  param: 'session.delegation',
};

const STORED: EventProblem = {
  code: 'unsupported_parameter',
  message:
    'session.store: the upstream stores a session in the account that pays it; use a key of your own there.',
  param: 'session.store',
};

/** Returns the refusal of settings that need the caller's own key at the upstream; undefined when no setting does. */
export function ownKeyProblem(session: unknown): EventProblem | undefined {
  if (!isObject(session)) return undefined;
  const { store = false } = session;
  if (store !== false && store !== null) return STORED;
  return usesBackend(session) ? BILLED_APART : undefined;
}

/** Returns true when the settings name a backend of the upstream, or contain triggers, which call the backend. */
function usesBackend({ delegation, triggers }: Json): boolean {
  const isClients =
    delegation === undefined ||
    delegation === null ||
    (isObject(delegation) && delegation.type === 'client');
  const hasTriggers = triggers !== undefined && !(Array.isArray(triggers) && triggers.length === 0);
  return !isClients || hasTriggers;
}
