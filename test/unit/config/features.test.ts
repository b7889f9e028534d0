import { describe, expect, it } from 'vitest';
import { agentErrors, providerKeyErrors } from '../../../src/accounts/errors.ts';
import { readConfig } from '../../../src/config/config.ts';
import { SECTIONS } from '../../../src/config/environment.ts';
import { featuresOff } from '../../../src/config/features.ts';
import { phoneErrors } from '../../../src/phone/errors.ts';
import { signatureErrors } from '../../../src/platform/chain/errors.ts';
import { webhookErrors } from '../../../src/webhooks/errors.ts';

const SECRETS = {
  NODE_ENV: 'production',
  DATABASE_URL: 'postgres://127.0.0.1/none',
  JWT_SECRET: 'j'.repeat(32),
  API_KEY_HMAC_SECRET: 'h'.repeat(32),
  ADMIN_API_KEY: 'a'.repeat(16),
};
const WALLETS = {
  MANAGED_WALLET_APP_ID: 'local',
  MANAGED_WALLET_APP_SECRET: 's'.repeat(32),
  MANAGED_WALLET_AUTHORIZATION_PRIVATE_KEY: 'k'.repeat(32),
  FACILITATOR_PRIVATE_KEY: `0x${'1'.repeat(64)}`,
};
const off = (environment: Record<string, string>) =>
  featuresOff(readConfig({ ...SECRETS, ...environment }));

describe('the features that a configuration leaves off', () => {
  it('a production server with its required secrets alone lacks four features, each with its variables', () => {
    expect(off({})).toEqual([
      {
        feature: 'creating agents',
        set: 'MANAGED_WALLET_APP_ID, MANAGED_WALLET_APP_SECRET, MANAGED_WALLET_AUTHORIZATION_PRIVATE_KEY, FACILITATOR_PRIVATE_KEY',
      },
      {
        feature: 'webhooks, stored provider keys, kept responses',
        set: 'PROVIDER_KEY_SECRET',
      },
      { feature: 'deposits and payments in USDC', set: 'RPC_URL' },
      {
        feature: 'phone',
        set: 'TWILIO_ACCOUNT_SID + TWILIO_AUTH_TOKEN or the three TELNYX_… variables',
      },
    ]);
  });

  it('the list of features that are off names only the missing variables, and a wallet provider’s app id needs its URL', () => {
    const [first] = off({ ...WALLETS, MANAGED_WALLET_APP_ID: 'app-1' });
    expect(first).toEqual({ feature: 'creating agents', set: 'MANAGED_WALLET_BASE_URL' });
    expect(off(WALLETS).map(({ feature }) => feature)).not.toContain('creating agents');
  });

  it('a complete configuration leaves no feature off', () => {
    const whole = {
      ...WALLETS,
      PROVIDER_KEY_SECRET: 'p'.repeat(32),
      RPC_URL: 'https://rpc.example',
      PHONE_CARRIER: 'loopback',
    };
    expect(off(whole)).toEqual([]);
  });
});

it('the 503 of a feature that is not configured names variables that the server reads', () => {
  const known = Object.values(SECTIONS).flatMap((section) => Object.keys(section));
  const named = (thrown: { readonly fields: Readonly<Record<string, unknown>> }) =>
    String(thrown.fields.message).match(/[A-Z][A-Z0-9]*(_[A-Z0-9]+)+/g) ?? [];
  const refused = {
    agents: named(agentErrors.featuresUnavailable()),
    creation: named(agentErrors.creationUnavailable()),
    phone: named(phoneErrors.telephonyUnavailable()),
    providerKeys: named(providerKeyErrors.unavailable()),
    webhooks: named(webhookErrors.unavailable()),
    signatures: named(signatureErrors.needsChain()),
  };
  expect(refused).toEqual({
    agents: [
      'MANAGED_WALLET_APP_ID',
      'MANAGED_WALLET_APP_SECRET',
      'MANAGED_WALLET_AUTHORIZATION_PRIVATE_KEY',
      'MANAGED_WALLET_BASE_URL',
    ],
    creation: ['FACILITATOR_PRIVATE_KEY'],
    phone: [
      'TWILIO_ACCOUNT_SID',
      'TWILIO_AUTH_TOKEN',
      'TELNYX_API_KEY',
      'TELNYX_PUBLIC_KEY',
      'TELNYX_CONNECTION_ID',
    ],
    providerKeys: ['PROVIDER_KEY_SECRET'],
    webhooks: ['PROVIDER_KEY_SECRET'],
    signatures: ['RPC_URL'],
  });
  expect(
    Object.values(refused)
      .flat()
      .filter((name) => !known.includes(name)),
  ).toEqual([]);
});
