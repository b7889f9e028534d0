import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../../src/kernel/manual-clock.ts';
import type { Carrier } from '../../../../src/phone/carriers/carrier.ts';
import { openCarrier } from '../../../../src/phone/carriers/open-carrier.ts';
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
  it.each(['twilio', 'telnyx'] as const)('is %s where they name it', (carrier) => {
    expect(openCarrier({ ...SETTINGS, carrier }, deps)?.name).toBe(carrier);
  });

  it('is the callee inside this process where there is one', () => {
    const loopback = { name: 'loopback' } as Carrier;
    const settings = { ...SETTINGS, carrier: 'loopback' } as const;
    expect(openCarrier(settings, { ...deps, loopback: () => loopback })).toBe(loopback);
    expect(openCarrier(settings, deps)).toBeUndefined();
  });

  it('is none where there is no phone service', () => {
    expect(openCarrier(SETTINGS, deps)).toBeUndefined();
  });

  it('needs an address that it can call', () => {
    const settings = { ...SETTINGS, carrier: 'twilio' } as const;
    expect(() => openCarrier(settings, { ...deps, publicUrl: undefined })).toThrow(
      'the settings were checked',
    );
  });
});
