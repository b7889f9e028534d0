import { isObject, type Json } from '../../../kernel/json.ts';

/** The types of the dialect; `integer` is a part of `number`. */
export type JsonType = 'string' | 'number' | 'integer' | 'boolean' | 'null' | 'array' | 'object';

export const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

/** An object, and no list. */
export const isRecord = (value: unknown): value is Json => isObject(value) && !isList(value);

export function isOfType(value: unknown, type: unknown): boolean {
  switch (type) {
    case 'string':
    case 'boolean':
      return typeof value === type;
    case 'number':
      return typeof value === 'number';
    case 'integer':
      return Number.isInteger(value);
    case 'null':
      return value === null;
    case 'array':
      return isList(value);
    case 'object':
      return isRecord(value);
    default:
      return false;
  }
}

/** Whether two values of JSON are the same, whatever the order of their members. */
export function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (isList(a) || isList(b)) {
    return (
      isList(a) && isList(b) && a.length === b.length && a.every((one, i) => isSame(one, b[i]))
    );
  }
  if (!isRecord(a) || !isRecord(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isSame(a[key], b[key]))
  );
}

/** How many characters a text has, as schemas count them. */
export function charsOf(text: string): number {
  let chars = 0;
  for (const _ of text) chars++;
  return chars;
}
