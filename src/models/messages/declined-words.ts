import { anthropicTypeOf } from '../../http/route/render-error.ts';
import { JSON_LIMITS } from '../../kernel/json/limits.ts';
import { tryParseJson } from '../../kernel/json/parse-json.ts';
import { isObject, type Json } from '../../kernel/json.ts';
import type { Outcome } from '../providers/outcome.ts';

/** Messages of vendors that have no error code for a prompt beyond the context window. */
const CONTEXT =
  /(?:maximum context length|context (?:window|length|limit)|maximum number of tokens allowed)/i;

/**
 * Returns true for a refusal because of the prompt's length. It is reported in Anthropic's own wording, on which clients
 * shorten their conversation.
 */
const isPromptTooLong = ({ code }: Json, message: string): boolean =>
  code === 'context_length_exceeded' || CONTEXT.test(message);

/** Returns an upstream's refusal in the Messages envelope: unchanged if it has that envelope, else its sentence alone. */
export function inMessagesWords<T>(outcome: Outcome<T>): Outcome<T> {
  if (outcome.kind !== 'declined') return outcome;
  const said = tryParseJson(outcome.body, JSON_LIMITS.upstream);
  const error = isObject(said) && isObject(said.error) ? said.error : {};
  const isOwn = isObject(said) && said.type === 'error' && typeof error.type === 'string';
  if (isOwn) return outcome;
  const told =
    typeof error.message === 'string' && error.message !== ''
      ? error.message
      : `The provider answered ${outcome.status}.`;
  const message = isPromptTooLong(error, told) ? `prompt is too long: ${told}` : told;
  const body = { type: 'error', error: { type: anthropicTypeOf(outcome.status), message } };
  return { ...outcome, body: Buffer.from(JSON.stringify(body)), contentType: 'application/json' };
}
