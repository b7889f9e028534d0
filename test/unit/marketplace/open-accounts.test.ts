import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../../src/config/config-error.ts';
import { openAccounts } from '../../../src/marketplace/open-accounts.ts';
import { REMOTE_VENDORS } from '../../../src/marketplace/vendors/vendors.ts';

const open = (secrets: Readonly<Record<string, string>>) =>
  openAccounts(REMOTE_VENDORS, (name) => secrets[name]);

describe('accounts with vendors', () => {
  it('a vendor account is open only when all its variables are set', () => {
    expect([...open({}).keys()]).toEqual([]);
    expect([...open({ POLLY_ACCESS_KEY_ID: 'a', AZURE_SPEECH_KEY: 'b' }).keys()]).toEqual([]);
    const both = { POLLY_ACCESS_KEY_ID: 'a', POLLY_SECRET_ACCESS_KEY: 'b', DEEPGRAM_API_KEY: 'c' };
    expect([...open(both).keys()]).toEqual(['deepgram', 'polly']);
  });

  it('a vendor account has the vendor’s HTTPS address unless a variable overrides it', () => {
    for (const { account, name } of REMOTE_VENDORS) {
      if (account?.baseUrl !== null)
        expect([name, account?.baseUrl]).toEqual([
          name,
          expect.stringMatching(/^https:\/\/[\w./-]+[^/]$/),
        ]);
    }
    const moved = open({
      DEEPGRAM_API_KEY: 'c',
      VENDOR_DEEPGRAM_BASE_URL: 'https://eu.example/v1',
    });
    expect(moved.get('deepgram')?.baseUrl).toBe('https://eu.example/v1');
  });

  it.each(['nowhere', 'ftp://a.example', 'https://a.example?x=1'])(
    'a vendor address of %s stops the start with the name of the variable',
    (address) => {
      const start = () => open({ DEEPGRAM_API_KEY: 'c', VENDOR_DEEPGRAM_BASE_URL: address });
      expect(start).toThrow(ConfigError);
      expect(start).toThrow('VENDOR_DEEPGRAM_BASE_URL');
    },
  );
});
