import { isObject } from '../kernel/json.ts';
import { LIMITS } from '../kernel/limits.ts';
import { tryParseJson } from '../kernel/parse-json.ts';

/** A text message of a client as an object, or nothing: no JSON, no object, or longer than any message is. */
export function parseClientMessage(text: string): Readonly<Record<string, unknown>> | undefined {
  if (text.length > LIMITS.clientMessageChars) return undefined;
  const value = tryParseJson(text);
  return isObject(value) && !Array.isArray(value) ? value : undefined;
}
