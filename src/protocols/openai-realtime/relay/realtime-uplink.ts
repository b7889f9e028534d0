import { isObject, type Json } from '../../../kernel/json.ts';
import { isSet } from '../../../models/providers/unserved-features.ts';
import { LEAVE_OR_PAY, unpricedTool } from '../../../models/routing/unpriced-features.ts';
import { type EventProblem, eventIdOf, readEventJson } from '../client-event.ts';
import { readAppend } from '../read-append.ts';

/**
 * Types of tools that cost only their tokens: functions that the caller runs, and MCP servers that the caller names. The
 * upstream runs all other tools, as often as the model calls them, and bills each call.
 */
const OF_CALLER: ReadonlySet<unknown> = new Set(['function', 'mcp']);

/**
 * Byte sequences of which a frame needs one to contain a checked member. The last two are the beginnings of JSON escapes of
 * letters.
 */
const TRACES = ['tools', 'prompt', '\\u006', '\\u007'].map((text) => Buffer.from(text));

type Judged = { readonly bytes: Uint8Array } | { readonly problem: EventProblem };

/**
 * Checks a client's event for a session that this server's account pays. Tools that the upstream runs and bills by the call,
 * and prompts stored in the account, need the client's own key. An event that may name either is parsed and rewritten, so that
 * the upstream reads exactly what was checked; all other events pass unchanged.
 */
export function judgePooledEvent(frame: Uint8Array): Judged {
  const bytes = Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength);
  if (!TRACES.some((trace) => bytes.includes(trace))) return { bytes: frame };
  if (readAppend(frame) !== undefined) return { bytes: frame };
  const read = readEventJson(bytes.toString('utf8'));
  if ('problem' in read) return read;
  const { value } = read;
  const problem = isObject(value) ? problemOf(value) : undefined;
  return problem === undefined
    ? { bytes: Buffer.from(JSON.stringify(value)) }
    : { problem: { ...problem, eventId: eventIdOf(value as Json) } };
}

/** Returns the problem of a client's settings, which are in the `session` of one event and in the `response` of another. */
const problemOf = ({ response, session }: Json): EventProblem | undefined =>
  problemOfSettings('session', session) ?? problemOfSettings('response', response);

function problemOfSettings(of: string, settings: unknown): EventProblem | undefined {
  if (!isObject(settings)) return undefined;
  const { prompt, tools } = settings;
  if (isSet(prompt)) {
    const param = `${of}.prompt`;
    return refusal(param, `${param} names a prompt of the account that pays. ${LEAVE_OR_PAY}`);
  }
  if (!Array.isArray(tools)) return undefined;
  const at = (tools as unknown[]).findIndex((tool) => isObject(tool) && !OF_CALLER.has(tool.type));
  const place = `${of}.tools[${at}]`;
  return at === -1 ? undefined : refusal(place, unpricedTool(tools[at], place));
}

const refusal = (param: string, message: string): EventProblem => ({
  code: 'unsupported_parameter',
  message,
  param,
});
