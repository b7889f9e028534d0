import { anthropicTypeOf } from '../../http/route/render-error.ts';
import { tryParseJson } from '../../kernel/json/parse-json.ts';
import { isObject } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Outcome } from '../providers/outcome.ts';

/** A refusal of an upstream in the envelope of the dialect: as it came where that is its own, else its sentence alone. */
export function inMessagesWords<T>(outcome: Outcome<T>): Outcome<T> {
  if (outcome.kind !== 'declined') return outcome;
  const said = tryParseJson(outcome.body, LIMITS.upstreamJson);
  const error = isObject(said) && isObject(said.error) ? said.error : {};
  const isOwn = isObject(said) && said.type === 'error' && typeof error.type === 'string';
  if (isOwn) return outcome;
  const message =
    typeof error.message === 'string' && error.message !== ''
      ? error.message
      : `The provider answered ${outcome.status}.`;
  const body = { type: 'error', error: { type: anthropicTypeOf(outcome.status), message } };
  return { ...outcome, body: Buffer.from(JSON.stringify(body)), contentType: 'application/json' };
}
