import { JSON_LIMITS } from '../../../kernel/json/limits.ts';
import { tryParseJson } from '../../../kernel/json/parse-json.ts';
import { isObject, type Json } from '../../../kernel/json.ts';

/** Parses JSON text of the upstream. Undefined when the text is not valid JSON. */
export const jsonOf = (text: Uint8Array): unknown => tryParseJson(text, JSON_LIMITS.upstream);

/** Returns the member if it is an object, else an empty object. */
export function member(json: Json, name: string): Json {
  const value = json[name];
  return isObject(value) ? value : {};
}

/** Returns the member if it is text, else an empty text. */
export function textMember(json: Json, name: string): string {
  const value = json[name];
  return typeof value === 'string' ? value : '';
}
