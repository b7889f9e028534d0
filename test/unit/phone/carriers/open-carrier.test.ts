import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Carrier } from '../../../../src/phone/carriers/carrier.ts';
import { openCarrier } from '../../../../src/phone/carriers/open-carrier.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { recordedFetch } from '../../../support/recorded-fetch.ts';

const { publicKey } = generateKeyPairSync('ed25519');
const SETTINGS = {
  carrier: 'none',
  twilio: {
    accountSid: `AC${'0'.repeat(32)}`,
    authToken: 'secret',
    baseUrl: 'https://api.twilio.com',
  },
  telnyx: {
    apiKey: 'KEY1',
    publicKey: publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
    connectionId: '7267',
    baseUrl: 'https://api.telnyx.com',
  },
} as const;

const { fetch, fetchStream } = recordedFetch();
const deps = { fetch, fetchStream, clock: new ManualClock(), publicUrl: 'https://phone.example' };

describe('the carrier of the settings', () => {
  it.each(['twilio', 'telnyx'] as const)(
    'openCarrier opens %s when the settings name it',
    (carrier) => {
      expect(openCarrier({ ...SETTINGS, carrier }, deps)?.name).toBe(carrier);
    },
  );

  it('openCarrier opens the loopback callee of this process when there is one', () => {
    const loopback = { name: 'loopback' } as Carrier;
    const settings = { ...SETTINGS, carrier: 'loopback' } as const;
    expect(openCarrier(settings, { ...deps, loopback: () => loopback })).toBe(loopback);
    expect(openCarrier(settings, deps)).toBeUndefined();
  });

  it('openCarrier opens no carrier when there is no phone service', () => {
    expect(openCarrier(SETTINGS, deps)).toBeUndefined();
  });

  it('openCarrier refuses a carrier without a public URL that the carrier can call', () => {
    const settings = { ...SETTINGS, carrier: 'twilio' } as const;
    expect(() => openCarrier(settings, { ...deps, publicUrl: undefined })).toThrow(
      'the settings were checked',
    );
  });
});
