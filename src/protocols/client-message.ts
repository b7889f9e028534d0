import { tryParseJson } from '../kernel/json/parse-json.ts';
import { isObject } from '../kernel/json.ts';
import { LIMITS } from '../kernel/limits.ts';

/** Parses a client's text message. Returns undefined when the text is too long or is no JSON object. */
export function parseClientMessage(
  text: string,
  mostChars: number = LIMITS.clientMessageChars,
): Readonly<Record<string, unknown>> | undefined {
  if (text.length > mostChars) return undefined;
  const value = tryParseJson(text);
  return isObject(value) && !Array.isArray(value) ? value : undefined;
}
