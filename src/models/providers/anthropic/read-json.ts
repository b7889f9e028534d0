import { tryParseJson } from '../../../kernel/json/parse-json.ts';
import { isObject, type Json } from '../../../kernel/json.ts';
import { LIMITS } from '../../../kernel/limits.ts';

/** Parses a text of the upstream. Undefined: not valid JSON. */
export const jsonOf = (text: Uint8Array): unknown => tryParseJson(text, LIMITS.upstreamJson);

/** A member that is an object, or an empty one in its place. */
export function member(json: Json, name: string): Json {
  const value = json[name];
  return isObject(value) ? value : {};
}

/** A member that is text, or none in its place. */
export function textMember(json: Json, name: string): string {
  const value = json[name];
  return typeof value === 'string' ? value : '';
}
