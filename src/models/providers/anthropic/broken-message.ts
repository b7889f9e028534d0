import { isObject } from '../../../kernel/json.ts';
import { ReportedError } from '../reported-error.ts';
import { textMember } from './read-json.ts';

/**
 * Thrown when the upstream ended its stream with an error event. Readers in the Messages dialect get the error under `type`.
 */
export class BrokenMessage extends ReportedError {
  readonly type: string;

  constructor(type: string, error: unknown) {
    super(error);
    this.type = type;
  }
}

/** Returns the error that an event of the Messages dialect reports. */
export function reportedError(error: unknown): BrokenMessage {
  const said = isObject(error) ? error : {};
  const type = /^[a-z_]{1,64}$/.exec(textMember(said, 'type'))?.[0] ?? 'api_error';
  return new BrokenMessage(type, error);
}

/** Returns the error that an upstream in the OpenAI dialect reports, under a type that clients of the Messages dialect know. */
export function translatedError(error: unknown): BrokenMessage {
  const said = isObject(error) ? error : {};
  const type = TYPES.get(said.type) ?? TYPES.get(said.code) ?? 'api_error';
  return new BrokenMessage(type, error);
}

/**
 * Error types and codes of upstreams in the OpenAI dialect, by the type of the Messages dialect. A wrong key or an empty
 * account concerns this server and not the caller, so it becomes the general error.
 */
const WORDS: Readonly<Record<string, readonly unknown[]>> = {
  invalid_request_error: ['invalid_request_error'],
  rate_limit_error: ['rate_limit_error', 'rate_limit_exceeded', 'requests', 'tokens', 429, '429'],
  overloaded_error: [
    'overloaded_error',
    'overloaded',
    'engine_overloaded',
    'server_overloaded',
    'slow_down',
    'service_unavailable',
    'service_unavailable_error',
    503,
    '503',
    529,
    '529',
  ],
  timeout_error: ['timeout_error', 'timeout', 504, '504'],
};

const TYPES: ReadonlyMap<unknown, string> = new Map(
  Object.entries(WORDS).flatMap(([type, words]) => words.map((word) => [word, type] as const)),
);
