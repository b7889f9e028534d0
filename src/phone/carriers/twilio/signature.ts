import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { CallbackRequest } from '../carrier.ts';
import { type Form, readForm } from './form-body.ts';

const HEADER = 'x-twilio-signature';
const NO_PARAMETERS: Form = new Map();

/** Form of a signature: a SHA-1 digest in base64. */
const SIGNATURE = /^[A-Za-z0-9+/]{27}=$/;

export const hasTwilioSignature = (headers: CallbackRequest['headers']): boolean =>
  SIGNATURE.test(headers[HEADER] ?? '');

/** Returns true when Twilio has signed this request with the token of the account. */
export function isSignedByTwilio(authToken: string, request: CallbackRequest): boolean {
  const bodyHash = new URLSearchParams(queryOf(request.url)).get('bodySHA256');
  if (bodyHash !== null) {
    const sha256 = createHash('sha256').update(request.body).digest('hex');
    return areSame(bodyHash, sha256) && isSigned(authToken, request, NO_PARAMETERS);
  }
  const form = readForm(request.body);
  return form !== undefined && isSigned(authToken, request, form);
}

/**
 * Returns true when Twilio has signed the upgrade of a media stream. The signed URL may have the scheme of a socket or of HTTP.
 */
export function isUpgradeSignedByTwilio(
  authToken: string,
  { url, headers }: Omit<CallbackRequest, 'body'>,
): boolean {
  const asSocket = url.replace(/^http/, 'ws');
  const asHttp = url.replace(/^ws/, 'http');
  return [asSocket, asHttp].some((named) =>
    isSigned(authToken, { url: named, headers }, NO_PARAMETERS),
  );
}

/** Returns Twilio's signature of an address and then its parameters, sorted by name. Equal values of a name count once. */
function twilioSignature(authToken: string, url: string, form: Form): string {
  let signed = url;
  for (const name of [...form.keys()].sort()) {
    for (const value of [...new Set(form.get(name))].sort()) signed += name + value;
  }
  return createHmac('sha1', authToken).update(signed).digest('base64');
}

/** Returns true when the signature matches the URL with or without its port, because Twilio signs either form. */
function isSigned(
  authToken: string,
  { url, headers }: Omit<CallbackRequest, 'body'>,
  form: Form,
): boolean {
  const given = headers[HEADER];
  if (given === undefined) return false;
  return spellingsOf(url).some((spelling) =>
    areSame(given, twilioSignature(authToken, spelling, form)),
  );
}

function spellingsOf(url: string): readonly string[] {
  const [, scheme = '', host = '', port, rest = ''] =
    /^(https?:\/\/|wss?:\/\/)(\[[^\]]*\]|[^/?#:]*)(:\d+)?(.*)$/s.exec(url) ?? [];
  if (scheme === '') return [];
  const usual = scheme === 'https://' || scheme === 'wss://' ? ':443' : ':80';
  return [scheme + host + rest, scheme + host + (port ?? usual) + rest];
}

const queryOf = (url: string): string => /\?([^#]*)/.exec(url)?.[1] ?? '';

function areSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
