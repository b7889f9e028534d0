import { LIMITS } from '../kernel/limits.ts';

/** A text message of a client as an object, or nothing: no JSON, no object, or longer than any message is. */
export function parseClientMessage(text: string): Readonly<Record<string, unknown>> | undefined {
  if (text.length > LIMITS.clientMessageChars) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
