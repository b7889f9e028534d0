import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { openWallets } from '../../../../src/app/build/open-wallets.ts';
import type { Settings } from '../../../../src/app/local-secrets.ts';
import { readConfig } from '../../../../src/config/config.ts';
import { ConfigError } from '../../../../src/config/config-error.ts';
import { systemRandom } from '../../../../src/kernel/random.ts';
import type { Sql } from '../../../../src/platform/postgres/sql.ts';

const signingKey = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  .privateKey.export({ format: 'der', type: 'pkcs8' })
  .toString('base64');

const REMOTE = {
  MANAGED_WALLET_APP_ID: 'app',
  MANAGED_WALLET_APP_SECRET: 'secret',
  MANAGED_WALLET_AUTHORIZATION_PRIVATE_KEY: signingKey,
  MANAGED_WALLET_BASE_URL: 'https://wallets.example/',
};

/** The wallets of an environment, and where they turn to for a new one. */
async function opened(environment: Record<string, string>) {
  const asked: string[] = [];
  const wallets = openWallets({
    settings: readConfig(environment) as Settings,
    sql: (() => Promise.resolve([])) as unknown as Sql,
    random: systemRandom,
    fetch: ({ url, headers }) => {
      asked.push(`${url.split('?')[0]} ${Object.keys(headers ?? {}).join(' ')}`);
      return Promise.reject(new Error('away'));
    },
  });
  await wallets?.provide('acct_a:1').catch(() => {});
  return { wallets, asked };
}

describe('openWallets', () => {
  it('openWallets calls the provider that the app id belongs to, with that provider’s header names', async () => {
    expect((await opened(REMOTE)).asked).toEqual([
      'https://wallets.example/v1/wallets managed-app-id authorization',
    ]);
    const { asked } = await opened({ ...REMOTE, MANAGED_WALLET_HEADER_PREFIX: 'acme' });
    expect(asked[0]).toContain('acme-app-id');
  });

  it('openWallets makes local wallets without a request to a provider', async () => {
    const { wallets, asked } = await opened({ ...REMOTE, MANAGED_WALLET_APP_ID: 'local' });
    expect(wallets).toBeDefined();
    expect(asked).toEqual([]);
  });

  it('openWallets opens no wallets where a setting is missing', async () => {
    for (const name of Object.keys(REMOTE)) {
      expect((await opened({ ...REMOTE, [name]: '' })).wallets, name).toBeUndefined();
    }
  });

  it('openWallets refuses to start with an invalid signing key, naming the variable and not the key', async () => {
    const name = 'MANAGED_WALLET_AUTHORIZATION_PRIVATE_KEY';
    const failure = opened({ ...REMOTE, [name]: 'secretsecret' });
    await expect(failure).rejects.toThrow(ConfigError);
    await expect(failure).rejects.toThrow(name);
    await expect(failure).rejects.not.toThrow('secretsecret');
  });
});
