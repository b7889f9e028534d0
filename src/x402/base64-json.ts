import { isUtf8 } from 'node:buffer';
import { JSON_LIMITS } from '../kernel/json/limits.ts';
import { JsonTooComplex, parseBoundedJson } from '../kernel/json/parse-json.ts';
import { X402_LIMITS } from './limits.ts';

/** Returns the value of a header, or all its values, by its lower-case name. */
export type HeaderLookup = (name: string) => string | readonly string[] | undefined;

export type DecodedHeader =
  | { readonly kind: 'decoded'; readonly value: unknown }
  | {
      readonly kind: 'unreadable';
      readonly code: 'invalid_base64' | 'invalid_json';
      readonly detail: string;
    };

/** Bounds of JSON that is at most 64 KiB long. */
const BOUNDS = { ...JSON_LIMITS.request, depth: X402_LIMITS.jsonDepth };

/** Standard base64, with or without padding, as published decoders accept it. The URL alphabet is not accepted. */
const STANDARD_BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Reads JSON from the base64 text of a header. Size and depth are bounded. Never throws. */
export function decodeBase64Json(text: string): DecodedHeader {
  if (text.length > X402_LIMITS.headerChars) {
    return unreadable('invalid_base64', `longer than ${X402_LIMITS.headerChars} characters`);
  }
  const padded = text.endsWith('=');
  if (!STANDARD_BASE64.test(text) || text.length % 4 === 1 || (padded && text.length % 4 !== 0)) {
    return unreadable('invalid_base64', 'not standard base64');
  }
  return parseJson(Buffer.from(text, 'base64'));
}

/** Reads JSON from bytes. Never throws. */
export function parseJson(bytes: Uint8Array): DecodedHeader {
  let value: unknown;
  try {
    if (!isUtf8(bytes)) return unreadable('invalid_json', 'not JSON');
    value = parseBoundedJson(bytes, BOUNDS);
  } catch (problem) {
    // An echoed value is serialized again, and serializing recurses where parsing does not.
    if (problem instanceof JsonTooComplex) return unreadable('invalid_json', problem.message);
    return unreadable('invalid_json', 'not JSON');
  }
  return { kind: 'decoded', value };
}

export const encodeBase64Json = (value: object): string =>
  Buffer.from(JSON.stringify(value)).toString('base64');

/** Returns the trimmed values of a header, without empty values. */
export function headerValues(header: HeaderLookup, name: string): readonly string[] {
  const found = header(name) ?? [];
  const values = typeof found === 'string' ? [found] : found;
  return values.map((value) => value.trim()).filter((value) => value !== '');
}

const unreadable = (code: 'invalid_base64' | 'invalid_json', detail: string): DecodedHeader => ({
  kind: 'unreadable',
  code,
  detail,
});
