import { isObject, type Json } from '../../kernel/json.ts';

/** What a text says; undefined where it is no JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

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
