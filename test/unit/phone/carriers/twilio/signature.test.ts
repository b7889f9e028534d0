import { createHash, createHmac } from 'node:crypto';
import fc from 'fast-check';
import twilio from 'twilio';
import { describe, expect, it } from 'vitest';
import type { CallbackRequest } from '../../../../../src/phone/carriers/carrier.ts';
import {
  isSignedByTwilio,
  isUpgradeSignedByTwilio,
} from '../../../../../src/phone/carriers/twilio/signature.ts';
import { PHONE_LIMITS } from '../../../../../src/phone/limits.ts';

const TOKEN = '12345';
const URL_OF_VECTOR = 'https://mycompany.com/myapp.php?foo=1&bar=2';
const PARAMETERS = {
  CallSid: 'CA1234567890ABCDE',
  Caller: '+14158675309',
  Digits: '1234',
  From: '+14158675309',
  To: '+18005551212',
};
const SIGNATURE = 'RSOYDt4T1cUTdK1PDd93/VVr8B8=';

const encode = (parameters: Readonly<Record<string, string>>) =>
  Buffer.from(new URLSearchParams(parameters).toString());

type Change = {
  readonly url?: string;
  readonly body?: Uint8Array;
  readonly signature?: string | undefined;
};
const requestOf = ({ url = URL_OF_VECTOR, body = encode(PARAMETERS), ...rest }: Change) => {
  const signature = 'signature' in rest ? rest.signature : SIGNATURE;
  const headers = signature === undefined ? {} : { 'x-twilio-signature': signature };
  return { url, body, headers } satisfies CallbackRequest as CallbackRequest;
};
const isGenuine = (change: Change) => isSignedByTwilio(TOKEN, requestOf(change));

describe('the signature of Twilio', () => {
  it('the Twilio signature equals the example that Twilio documents', () => {
    expect(isGenuine({})).toBe(true);
  });

  it("the Twilio signature of Twilio's SDK is accepted, whatever the parameters are", () => {
    const words = fc.string({ unit: 'grapheme', maxLength: 8 });
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.string({ minLength: 1, maxLength: 8 }).filter((name) => name !== '__proto__'),
          fc.oneof(words, fc.array(words, { minLength: 1, maxLength: 3 })),
        ),
        fc.constantFrom('', ':8443', ':443'),
        fc.constantFrom('', '?call=CA1', '?call=CA1&again=1'),
        (parameters, port, query) => {
          const url = `https://phone.example${port}/v1/telephony/twilio/voice${query}`;
          const signature = twilio.getExpectedTwilioSignature(TOKEN, url, parameters);
          const body = new URLSearchParams(
            Object.entries(parameters).flatMap(([name, value]) =>
              [value].flat().map((each): [string, string] => [name, each]),
            ),
          );
          expect(isGenuine({ url, body: Buffer.from(`${body}`), signature })).toBe(true);
        },
      ),
    );
  });

  it.each([
    ['https://phone.example/voice', 'https://phone.example:443/voice'],
    ['https://phone.example:443/voice', 'https://phone.example/voice'],
    ['https://phone.example:8443/voice', 'https://phone.example/voice'],
    ['http://phone.example/voice', 'http://phone.example:80/voice'],
    ['https://[2001:db8::1]/voice', 'https://[2001:db8::1]:443/voice'],
  ])('the Twilio signature is valid for %s when Twilio has signed %s', (url, signedUrl) => {
    const signature = twilio.getExpectedTwilioSignature(TOKEN, signedUrl, PARAMETERS);
    expect(isGenuine({ url, signature })).toBe(true);
  });

  it('the Twilio signature covers a JSON body by its hash in the address', () => {
    const body = Buffer.from('{"a":1}');
    const hash = createHash('sha256').update(body).digest('hex');
    const url = `https://phone.example/usage?bodySHA256=${hash}`;
    const signature = twilio.getExpectedTwilioSignature(TOKEN, url, {});
    expect(twilio.validateRequestWithBody(TOKEN, signature, url, `${body}`)).toBe(true);
    expect(isGenuine({ url, body, signature })).toBe(true);
    expect(isGenuine({ url, body: Buffer.from('{"a":2}'), signature })).toBe(false);
  });

  it('the Twilio signature covers the upgrade of a media stream, by either scheme', () => {
    const socket = 'wss://phone.example/v1/telephony/twilio/media';
    const signature = twilio.getExpectedTwilioSignature(TOKEN, socket, {});
    const headers = { 'x-twilio-signature': signature };
    const http = socket.replace('wss', 'https');
    for (const url of [socket, http]) {
      expect(isUpgradeSignedByTwilio(TOKEN, { url, headers })).toBe(true);
    }
    expect(isUpgradeSignedByTwilio(TOKEN, { url: `${http}x`, headers })).toBe(false);
    expect(isUpgradeSignedByTwilio('54321', { url: http, headers })).toBe(false);
    expect(isUpgradeSignedByTwilio(TOKEN, { url: http, headers: {} })).toBe(false);
  });

  const sha1 = (text: string, encoding: 'base64' | 'hex' = 'base64') =>
    createHmac('sha1', TOKEN).update(text).digest(encoding);
  const joined = Object.entries(PARAMETERS).flat().join('');
  const without = (name: keyof typeof PARAMETERS) => {
    const { [name]: _, ...rest } = PARAMETERS;
    return encode(rest);
  };

  it.each<[string, Change]>([
    ['no signature', { signature: undefined }],
    ['an empty signature', { signature: '' }],
    ['a signature cut off', { signature: SIGNATURE.slice(0, -1) }],
    ['a signature with more behind it', { signature: `${SIGNATURE}=` }],
    ['a signature in other letters', { signature: SIGNATURE.toLowerCase() }],
    ['a signature in hex', { signature: sha1(URL_OF_VECTOR + joined, 'hex') }],
    ['a signature with a changed byte', { signature: SIGNATURE.replace('R', 'S') }],
    [
      'the signature of another token',
      { signature: twilio.getExpectedTwilioSignature('54321', URL_OF_VECTOR, PARAMETERS) },
    ],
    ['the signature of the address alone', { signature: sha1(URL_OF_VECTOR) }],
    ['the signature of the parameters alone', { signature: sha1(joined) }],
    [
      'a signature by SHA-256',
      {
        signature: createHmac('sha256', TOKEN)
          .update(URL_OF_VECTOR + joined)
          .digest('base64'),
      },
    ],
    ['another host', { url: URL_OF_VECTOR.replace('mycompany', 'yourcompany') }],
    ['another path', { url: URL_OF_VECTOR.replace('myapp', 'app') }],
    ['another scheme', { url: URL_OF_VECTOR.replace('https', 'http') }],
    ['another query', { url: URL_OF_VECTOR.replace('foo=1', 'foo=2') }],
    ['a query in another order', { url: 'https://mycompany.com/myapp.php?bar=2&foo=1' }],
    ['no query', { url: 'https://mycompany.com/myapp.php' }],
    ['an address that is none', { url: 'mycompany' }],
    ['a changed parameter', { body: encode({ ...PARAMETERS, To: '+18005551213' }) }],
    ['one parameter more', { body: encode({ ...PARAMETERS, CallStatus: 'completed' }) }],
    ['one parameter less', { body: without('Digits') }],
    ['a parameter twice', { body: Buffer.concat([encode(PARAMETERS), Buffer.from('&To=x')]) }],
    ['a parameter under another name', { body: encode({ ...PARAMETERS, to: '+1' }) }],
    ['no body', { body: new Uint8Array() }],
    [
      'a body beyond its bounds',
      { body: Buffer.alloc(PHONE_LIMITS.carrier.callbackBytes + 1, 0x61) },
    ],
  ])('the Twilio signature check refuses %s', (_, change) => {
    expect(isGenuine(change)).toBe(false);
  });
});
