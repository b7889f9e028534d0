import { generateKeyPairSync } from 'node:crypto';
import { expect, it } from 'vitest';
import type { CallDeps } from '../../../../src/phone/calls/call-deps.ts';
import { createCarrierHooks } from '../../../../src/phone/calls/calls.ts';
import type { CarrierCallbacks } from '../../../../src/phone/carriers/carrier.ts';
import { createTelnyxCallbacks } from '../../../../src/phone/carriers/telnyx/callbacks.ts';
import { createTwilioCallbacks } from '../../../../src/phone/carriers/twilio/callbacks.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const clock = new ManualClock();
const { publicKey } = generateKeyPairSync('ed25519');
const CALLBACKS = {
  twilio: createTwilioCallbacks({ authToken: 'token', hooks: {} as never }),
  telnyx: createTelnyxCallbacks({ api: {} as never, hooks: {} as never, publicKey, clock }),
} satisfies Record<string, CarrierCallbacks>;
const NOW = String(Math.floor(clock.now() / 1_000));
const SHA1 = `${'A'.repeat(27)}=`;
const ED25519 = Buffer.alloc(64, 1).toString('base64');

/** Sends a callback of a carrier with these headers. Returns whether its body was read, and whether it was believed. */
async function send(name: keyof typeof CALLBACKS, headers: Record<string, string>) {
  const carrier = { name, callbacks: CALLBACKS[name] };
  const hooks = createCarrierHooks({ carrier } as CallDeps);
  const seen = { isRead: false, isBelieved: false };
  const request = {
    url: 'https://voice.example/v1/telephony',
    headers,
    async readBody() {
      seen.isRead = true;
      return Buffer.from('a=1');
    },
    believe() {
      seen.isBelieved = true;
    },
  };
  await expect(hooks.callback(name, 'status', request)).rejects.toMatchObject({ status: 403 });
  return seen;
}

it.each<[string, keyof typeof CALLBACKS, Record<string, string>]>([
  ['without a signature of Twilio', 'twilio', {}],
  ['with a word for a signature of Twilio', 'twilio', { 'x-twilio-signature': 'signed' }],
  ['without a signature of Telnyx', 'telnyx', { 'telnyx-timestamp': NOW }],
  [
    'with a signature of Telnyx of another day',
    'telnyx',
    { 'telnyx-timestamp': '1', 'telnyx-signature-ed25519': ED25519 },
  ],
])('the body of a callback %s is not read', async (_what, name, headers) => {
  expect(await send(name, headers)).toEqual({ isRead: false, isBelieved: false });
});

it.each<[keyof typeof CALLBACKS, Record<string, string>]>([
  ['twilio', { 'x-twilio-signature': SHA1 }],
  ['telnyx', { 'telnyx-timestamp': NOW, 'telnyx-signature-ed25519': ED25519 }],
])('a callback of %s with a wrong signature is read and refused', async (name, headers) => {
  expect(await send(name, headers)).toEqual({ isRead: true, isBelieved: false });
});
