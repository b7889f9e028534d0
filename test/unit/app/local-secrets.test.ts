import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { completeSettings } from '../../../src/app/local-secrets.ts';
import { readConfig } from '../../../src/config/config.ts';
import { ConfigError } from '../../../src/config/config-error.ts';
import { type Random, systemRandom } from '../../../src/kernel/random.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'secrets-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

const config = (environment: Record<string, string> = {}) =>
  readConfig({ DATABASE_URL: join(directory, 'db'), ...environment });

describe('completeSettings', () => {
  it('completeSettings makes development secrets once and stores them for the owner alone', () => {
    const first = completeSettings(config(), systemRandom);
    const second = completeSettings(config(), systemRandom);
    expect(second).toEqual(first);
    expect(first.settings.jwtSecret).not.toBe(first.settings.apiKeyHmacSecret);
    expect(first.local).toContain('FACILITATOR_PRIVATE_KEY');
    expect(first.local).toContain('PROVIDER_KEY_SECRET');
    expect(first.settings.providerKeySecret).toHaveLength(64);
    expect(statSync(join(directory, 'secrets.json')).mode & 0o777).toBe(0o600);
  });

  it('completeSettings lets the environment win over stored secrets', () => {
    const { settings, local } = completeSettings(config({ ADMIN_API_KEY: 'mine' }), systemRandom);
    expect(settings.adminApiKey).toBe('mine');
    expect(local).not.toContain('ADMIN_API_KEY');
  });

  it('completeSettings adds nothing in production', () => {
    const complete = readConfig({
      NODE_ENV: 'production',
      JWT_SECRET: 'j'.repeat(32),
      API_KEY_HMAC_SECRET: 'h',
      ADMIN_API_KEY: 'a',
      DATABASE_URL: 'postgres://x/y',
    });
    expect(completeSettings(complete, systemRandom)).toEqual({ settings: complete, local: [] });
  });

  it('completeSettings completes the secrets file of an earlier version, alike at every start, without changing the file', () => {
    const file = join(directory, 'secrets.json');
    completeSettings(config(), systemRandom);
    const { providerKeySecret: _, ...earlier } = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(file, JSON.stringify(earlier));
    const first = completeSettings(config(), systemRandom).settings;
    expect(first.providerKeySecret).toHaveLength(64);
    expect(first.providerKeySecret).not.toBe(first.apiKeyHmacSecret);
    expect(completeSettings(config(), systemRandom).settings).toEqual(first);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(earlier);
  });

  it('completeSettings refuses a damaged secrets file instead of voiding keys in silence', () => {
    for (const damaged of ['{"jwtSecret":"x"}', '', '{"jwtSecret":']) {
      writeFileSync(join(directory, 'secrets.json'), damaged);
      const start = () => completeSettings(config(), systemRandom);
      expect(start).toThrow(ConfigError);
      expect(start).toThrow(/secrets\.json is damaged/);
    }
  });

  it('completeSettings keeps the secrets that another process wrote first, and leaves no draft file', () => {
    const file = join(directory, 'secrets.json');
    let theirs: string | undefined;
    // The other process comes between the look for the file and the writing of it.
    const late: Random = {
      ...systemRandom,
      bytes(count) {
        theirs ??= completeSettings(config(), systemRandom).settings.jwtSecret;
        return systemRandom.bytes(count);
      },
    };
    expect(completeSettings(config(), late).settings.jwtSecret).toBe(theirs);
    expect(JSON.parse(readFileSync(file, 'utf8')).jwtSecret).toBe(theirs);
    expect(readdirSync(directory)).toEqual(['secrets.json']);
  });

  it('completeSettings writes secrets to a draft and links it, so that a kill leaves no half file', () => {
    mkdirSync(join(directory, `secrets.json.${process.pid}`));
    expect(() => completeSettings(config(), systemRandom)).toThrow(/EISDIR/);
    expect(existsSync(join(directory, 'secrets.json'))).toBe(false);
  });

  it('completeSettings stores secrets in the working directory where the database is a server', () => {
    const before = process.cwd();
    process.chdir(directory);
    try {
      completeSettings(config({ DATABASE_URL: 'postgres://x/y' }), systemRandom);
    } finally {
      process.chdir(before);
    }
    expect(readdirSync(join(directory, '.data'))).toEqual(['secrets.json']);
  });
});
