import { createHash } from 'node:crypto';
import { isObject, type Json } from '../../kernel/json.ts';
import { MODEL_LIMITS } from '../limits.ts';

/** Separator between the upstream's id of a call and the signature that is appended to it. */
const MARK = '_sig1-';
const CHECK_CHARS = 8;

/** Encodings of a signature in an id. `b`: the bytes of a base64 text, no longer than the text itself; `t`: any other text. */
const BASE64 = 'b';
const TEXT = 't';

/** Returns the signature of a call, in the member of Google's OpenAI-compatible API; an empty text when the call has none. */
export function signatureOf({ extra_content: extra }: Json): string {
  const google = isObject(extra) ? extra.google : undefined;
  const signature = isObject(google) ? google.thought_signature : undefined;
  return typeof signature === 'string' ? signature : '';
}

/** Members that carry the signature of a call in a request to Google's OpenAI-compatible address. */
export const signed = (signature: string): Json => ({
  extra_content: { google: { thought_signature: signature } },
});

/**
 * Returns the id of a call with its signature appended, in characters that every dialect accepts. Clients return ids unchanged,
 * unlike unknown members. A signature that is too long is left out.
 */
export function signedId(id: string, signature: string): string {
  if (signature === '' || signature.length > MODEL_LIMITS.chat.signatureChars || id.includes(MARK))
    return id;
  const bytes = Buffer.from(signature, 'base64');
  const isBase64 = bytes.toString('base64') === signature;
  const carried = isBase64 ? bytes : Buffer.from(signature);
  if (carried.length > MODEL_LIMITS.chat.signatureChars) return id;
  const payload = (isBase64 ? BASE64 : TEXT) + carried.toString('base64url');
  return `${id}${MARK}${checkOf(id, payload)}${payload}`;
}

export type OwnId = {
  /** Id that the upstream gave the call. */
  readonly id: string;
  /** Signature of the call. Empty when the id has none. */
  readonly signature: string;
};

/** Splits an id into the upstream's id and the signature. An id without a valid signature is returned whole. */
export function ownId(given: string): OwnId {
  const at = given.indexOf(MARK);
  if (at < 0 || given.length > at + MAX_CARRIED_CHARS) return { id: given, signature: '' };
  const id = given.slice(0, at);
  const check = given.slice(at + MARK.length, at + MARK.length + CHECK_CHARS);
  const payload = given.slice(at + MARK.length + CHECK_CHARS);
  if (check !== checkOf(id, payload)) return { id: given, signature: '' };
  const bytes = Buffer.from(payload.slice(1), 'base64url');
  return { id, signature: bytes.toString(payload[0] === BASE64 ? 'base64' : 'utf8') };
}

/** Upper bound of the characters after the upstream's id, including the separator. */
const MAX_CARRIED_CHARS =
  MARK.length + CHECK_CHARS + 1 + Math.ceil((MODEL_LIMITS.chat.signatureChars * 4) / 3);

/**
 * Returns a checksum that detects ids which were cut or changed. It is no secret: the upstream verifies the signature itself.
 */
const checkOf = (id: string, payload: string): string =>
  createHash('sha256').update(`${id} ${payload}`).digest('base64url').slice(0, CHECK_CHARS);

/** Returns the upstream's own id of a call, without the appended signature. */
export const bareId = (given: string): string => ownId(given).id;

/** Returns true when an id contains the mark, so that `ownId` may find a signature in it. */
export const mayCarry = (id: unknown): id is string => typeof id === 'string' && id.includes(MARK);
