import { tryParseJson } from '../kernel/json/parse-json.ts';
import { isObject } from '../kernel/json.ts';
import { VOICE_LIMITS } from '../voice/limits.ts';

/** Parses a client's text message. Returns undefined when the text is too long or is no JSON object. */
export function parseClientMessage(
  text: string,
  mostChars: number = VOICE_LIMITS.listen.messageChars,
): Readonly<Record<string, unknown>> | undefined {
  if (text.length > mostChars) return undefined;
  const value = tryParseJson(text);
  return isObject(value) && !Array.isArray(value) ? value : undefined;
}
