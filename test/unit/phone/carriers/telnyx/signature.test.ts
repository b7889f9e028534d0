import { generateKeyPairSync, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { CallbackRequest } from '../../../../../src/phone/carriers/carrier.ts';
import { hooksOf } from '../../../../../src/phone/carriers/telnyx/hooks.ts';
import {
  isSignedByTelnyx,
  telnyxPublicKey,
} from '../../../../../src/phone/carriers/telnyx/signature.ts';
import { PHONE_LIMITS } from '../../../../../src/phone/limits.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';

const NOW = 1_795_000_000;
const clock = new ManualClock(NOW * 1_000);
const ours = generateKeyPairSync('ed25519');
const others = generateKeyPairSync('ed25519');
const spki = ours.publicKey.export({ format: 'der', type: 'spki' });
const publicKey = telnyxPublicKey(spki.subarray(12).toString('base64'));
const BODY = Buffer.from('{"data":{"event_type":"call.hangup"}}');

const signed = (text: string | Uint8Array = `${NOW}|${BODY}`, key = ours.privateKey): Buffer =>
  sign(null, Buffer.from(text), key);
const SIGNATURE = signed();

type Change = {
  readonly timestamp?: string | undefined;
  readonly signature?: string | Uint8Array | undefined;
  readonly body?: Uint8Array;
};

function requestOf(change: Change): CallbackRequest {
  const {
    timestamp,
    signature,
    body = BODY,
  } = {
    timestamp: String(NOW),
    signature: SIGNATURE,
    ...change,
  };
  const headers: Record<string, string> = {};
  if (timestamp !== undefined) headers['telnyx-timestamp'] = timestamp;
  if (signature !== undefined) {
    headers['telnyx-signature-ed25519'] =
      typeof signature === 'string' ? signature : Buffer.from(signature).toString('base64');
  }
  return { url: 'https://phone.example/v1/telephony/telnyx/voice', headers, body };
}

const isGenuine = (change: Change) => isSignedByTelnyx({ publicKey, clock }, requestOf(change));
const at = (seconds: number): Change => ({
  timestamp: String(seconds),
  signature: signed(`${seconds}|${BODY}`),
});
const flipped = (bytes: Uint8Array, index: number) => {
  const copy = Buffer.from(bytes);
  copy[index] = (copy[index] as number) ^ 1;
  return copy;
};

describe('the signature of Telnyx', () => {
  it('a Telnyx signature is valid over the time and the body, by a key in either form', () => {
    expect(isGenuine({})).toBe(true);
    const key = telnyxPublicKey(spki.toString('base64'));
    expect(isSignedByTelnyx({ publicKey: key, clock }, requestOf({}))).toBe(true);
  });

  it('a Telnyx signature is valid for five minutes in both directions', () => {
    expect(isGenuine(at(NOW - 300))).toBe(true);
    expect(isGenuine(at(NOW + 300))).toBe(true);
  });

  const text = SIGNATURE.toString('base64');
  const long = Buffer.alloc(PHONE_LIMITS.carrier.callbackBytes + 1, 0x20);
  it.each<[string, Change]>([
    ['no signature', { signature: undefined }],
    ['no time', { timestamp: undefined }],
    ['an empty signature', { signature: '' }],
    ['an empty time', { timestamp: '' }],
    ['a signature cut off', { signature: SIGNATURE.subarray(0, 63) }],
    ['a signature with more behind it', { signature: Buffer.concat([SIGNATURE, Buffer.of(0)]) }],
    ['a signature in hex', { signature: SIGNATURE.toString('hex') }],
    ['a signature in another spelling', { signature: text.replace(/=+$/, '') }],
    ['a signature with a space', { signature: ` ${text}` }],
    ['a signature with its first half changed', { signature: flipped(SIGNATURE, 3) }],
    ['a signature with its second half changed', { signature: flipped(SIGNATURE, 40) }],
    ['a signature of zeros', { signature: Buffer.alloc(64) }],
    ['the signature of another key', { signature: signed(undefined, others.privateKey) }],
    ['the signature of the body alone', { signature: signed(BODY) }],
    ['the signature of the time alone', { signature: signed(`${NOW}|`) }],
    ['another sign between', { signature: signed(`${NOW}.${BODY}`) }],
    ['a changed body', { body: flipped(BODY, 4) }],
    ['a body with more behind it', { body: Buffer.concat([BODY, Buffer.from(' ')]) }],
    ['no body', { body: new Uint8Array() }],
    ['another time', { timestamp: String(NOW + 1) }],
    ['the same time in other words', { timestamp: `0${NOW}` }],
    ['a time that is no number', { timestamp: 'now', signature: signed(`now|${BODY}`) }],
    ['a time too long ago', at(NOW - 301)],
    ['a time too far ahead', at(NOW + 301)],
    ['a body beyond its bounds', { body: long, signature: signed(`${NOW}|${long}`) }],
  ])('the Telnyx signature check refuses %s', (_, change) => {
    expect(isGenuine(change)).toBe(false);
  });

  const rsa = generateKeyPairSync('rsa', { modulusLength: 1_024 }).publicKey;
  it.each(['', 'hello', rsa.export({ format: 'der', type: 'spki' }).toString('base64')])(
    'a Telnyx signature check takes %j for no key',
    (key) => {
      expect(() => telnyxPublicKey(key)).toThrow('TELNYX_PUBLIC_KEY is no Ed25519 key');
    },
  );
});

describe('the token of a media stream', () => {
  const hooks = hooksOf({ publicUrl: 'https://phone.example', apiKey: 'KEY1' });
  const url = hooks.media('CAours');
  const show = (token: string | undefined, at = url) =>
    hooks.isGenuineUpgrade({
      url: at,
      headers: token === undefined ? {} : { 'x-telnyx-streaming-auth-token': token },
    });

  it('the token of a Telnyx media stream opens the stream of its call alone', () => {
    expect(url).toBe('wss://phone.example/v1/telephony/telnyx/media?call=CAours');
    expect(show(hooks.mediaToken('CAours'))).toBe(true);
    expect(show(hooks.mediaToken('CAours'), url.replace('wss', 'https'))).toBe(true);
    expect(show(hooks.mediaToken('CAother'))).toBe(false);
    expect(show(hooks.mediaToken('CAours'), url.replace('CAours', 'CAother'))).toBe(false);
  });

  it('the token of a Telnyx media stream cannot be made without the API key', () => {
    const stranger = hooksOf({ publicUrl: 'https://phone.example', apiKey: 'KEY2' });
    expect(show(stranger.mediaToken('CAours'))).toBe(false);
    expect(show('')).toBe(false);
    expect(show(undefined)).toBe(false);
    expect(show(hooks.mediaToken('CAours').slice(1))).toBe(false);
    expect(show(hooks.mediaToken('CAours'), 'wss://phone.example/')).toBe(false);
  });
});
