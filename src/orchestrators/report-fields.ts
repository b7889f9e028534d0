import { digitsOf } from '../kernel/json/digits.ts';
import { isObject, type Json } from '../kernel/json.ts';
import { storableText } from '../kernel/storable.ts';
import { orchestratorErrors } from './errors.ts';
import { ORCHESTRATOR_LIMITS } from './limits.ts';

const EMPTY: Json = {};

/** Returns the object at a path of members; empty when a member on the way is missing or no object. */
export function objectAt(body: Json, ...path: readonly string[]): Json {
  let value: unknown = body;
  for (const name of path) value = isObject(value) ? value[name] : undefined;
  return isObject(value) && !Array.isArray(value) ? value : EMPTY;
}

export const textAt = (body: Json, name: string): string | undefined => {
  const value = body[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
};

/** Returns a text cut to `chars` characters, in a form that every row holds. */
export const cutText = (text: string, chars: number): string => storableText(text.slice(0, chars));

/** Returns an address that a receiver may open. Undefined for any other text. */
export function urlAt(body: Json, name: string): string | undefined {
  const text = textAt(body, name);
  if (text === undefined || text.length > ORCHESTRATOR_LIMITS.report.urlChars) return undefined;
  return /^https?:\/\//i.test(text) && URL.canParse(text) ? text : undefined;
}

/** Returns the platform's id of a call. Throws the refusal of a report that names no call. */
export function requireCallId(body: Json, name: string, shown = name): string {
  const callId = textAt(body, name)?.trim();
  const isGood =
    callId !== undefined &&
    callId !== '' &&
    callId.length <= ORCHESTRATOR_LIMITS.report.callIdChars &&
    storableText(callId) === callId;
  if (!isGood) throw orchestratorErrors.invalidCallId(shown);
  return callId;
}

/**
 * Returns an amount of a report in raw USDC, by the digits in which it was sent. Throws the refusal of an amount that is
 * missing, no number, negative, or larger than any call costs.
 */
export function requireCost(
  body: Json,
  name: string,
  shown: string,
  parse: (digits: string) => bigint | undefined,
): bigint {
  const value = body[name];
  if (typeof value !== 'number') {
    throw orchestratorErrors.invalidCost(
      value === undefined || value === null
        ? `${shown} is missing: a call is counted by its cost.`
        : `${shown} must be a number, not a ${typeof value}.`,
    );
  }
  const costRaw = parse(digitsOf(body, name) ?? String(value));
  if (costRaw === undefined || costRaw > ORCHESTRATOR_LIMITS.report.costRaw) {
    throw orchestratorErrors.invalidCost(
      `${shown} must be from 0 to the price of one call, at most ${ORCHESTRATOR_LIMITS.report.costRaw} raw USDC.`,
    );
  }
  return costRaw;
}

/** Returns a duration in whole seconds; null when it is unknown or no duration. */
export function secondsOf(seconds: unknown): number | null {
  if (typeof seconds !== 'number' || !Number.isFinite(seconds) || seconds < 0) return null;
  const whole = Math.round(seconds);
  return whole <= ORCHESTRATOR_LIMITS.report.durationSeconds ? whole : null;
}

/** Returns Unix milliseconds of a time in milliseconds; null for anything else. */
export const timeMs = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : null;
