import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { variablesOf } from '../../../src/app/commands/docs/configuration-page.ts';
import { readConfig } from '../../../src/config/config.ts';
import { ConfigError } from '../../../src/config/config-error.ts';
import { Environment, SECTIONS } from '../../../src/config/environment.ts';

const VARIABLES = Object.keys(Environment.shape);

const production = {
  NODE_ENV: 'production',
  JWT_SECRET: 'j'.repeat(32),
  API_KEY_HMAC_SECRET: 'h'.repeat(32),
  ADMIN_API_KEY: 'admin',
  DATABASE_URL: 'postgres://db.example/app',
};

const refusal = (environment: NodeJS.ProcessEnv) => {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return 'started';
};

describe('readConfig', () => {
  it('readConfig takes a certificate and its key together, and never one without the other', () => {
    const TLS_CERT_FILE = 'cert.pem';
    const TLS_KEY_FILE = 'key.pem';
    expect(readConfig({ TLS_CERT_FILE, TLS_KEY_FILE }).tls).toEqual({
      certFile: TLS_CERT_FILE,
      keyFile: TLS_KEY_FILE,
    });
    expect(readConfig({}).tls).toBeUndefined();
    expect(refusal({ TLS_CERT_FILE })).toBe('TLS_KEY_FILE is required beside TLS_CERT_FILE');
    expect(refusal({ TLS_KEY_FILE })).toBe('TLS_CERT_FILE is required beside TLS_KEY_FILE');
  });

  it('readConfig is complete in development with nothing set', () => {
    const config = readConfig({});
    expect(config).toMatchObject({
      environment: 'development',
      host: '127.0.0.1',
      port: 3001,
      database: { kind: 'directory', path: './.data/db' },
      x402: { validBeforeSeconds: 90 },
      agentProxyPerMinute: 3_000,
      drainSeconds: 30,
      socketsPerAgent: 100,
    });
  });

  it('readConfig refuses a production start without its secrets, naming the variable', () => {
    for (const name of ['JWT_SECRET', 'API_KEY_HMAC_SECRET', 'ADMIN_API_KEY'] as const) {
      expect(refusal({ ...production, [name]: undefined })).toBe(
        `${name} is required in production`,
      );
      expect(refusal({ ...production, [name]: '' })).toBe(`${name} is required in production`);
    }
    expect(refusal({ ...production, DATABASE_URL: undefined })).toBe(
      'DATABASE_URL is required outside development',
    );
    expect(refusal({ ...production, JWT_SECRET: 'short' })).toContain('JWT_SECRET');
    expect(refusal({ ...production, API_KEY_HMAC_SECRET: production.JWT_SECRET })).toContain(
      'API_KEY_HMAC_SECRET',
    );
    expect(refusal({ ...production, DATABASE_URL: './.data/db' })).toContain('DATABASE_URL');
  });

  it('readConfig refuses the development database in production, however its path is spelled', () => {
    const home = mkdtempSync(join(tmpdir(), 'config-'));
    mkdirSync(join(home, '.data', 'db'), { recursive: true });
    symlinkSync(join(home, '.data', 'db'), join(home, 'link'));
    symlinkSync(join(home, '.data'), join(home, 'folder-link'));
    const before = process.cwd();
    process.chdir(home);
    try {
      const spellings = [
        '.data/db',
        './.data/db/',
        './.data/../.data/db',
        '.data//db',
        './link',
        `${home}/.data/db`,
        `${home}/x/../.data/db`,
        'folder-link/db',
        `${home}/link/`,
      ];
      for (const DATABASE_URL of spellings) {
        expect(refusal({ ...production, DATABASE_URL })).toMatch(/^DATABASE_URL: .*default/);
        expect(refusal({ DATABASE_URL })).toBe('started');
      }
      rmSync(join(home, '.data', 'db'), { recursive: true });
      expect(refusal({ ...production, DATABASE_URL: 'folder-link/db' })).toContain('default');
      expect(refusal({ ...production, DATABASE_URL: './.data/db2' })).toBe('started');
      expect(refusal({ ...production, DATABASE_URL: './data/db' })).toBe('started');
    } finally {
      process.chdir(before);
      rmSync(home, { recursive: true });
    }
    for (const DATABASE_URL of ['file:.data/db', 'file:///var/db', 'FILE:./x', 'sqlite://x']) {
      expect(refusal({ DATABASE_URL })).toBe(
        'DATABASE_URL must be a postgres:// URL or a directory',
      );
    }
  });

  it('readConfig refuses a production start that would let agents reach local targets', () => {
    for (const set of ['1', 'true']) {
      expect(refusal({ ...production, SSRF_ALLOW_LOCALHOST: set })).toMatch(
        /^SSRF_ALLOW_LOCALHOST is for development/,
      );
      expect(readConfig({ SSRF_ALLOW_LOCALHOST: set }).x402.allowLocalhost).toBe(true);
    }
    expect(refusal({ ...production, SSRF_ALLOW_LOCALHOST: '0' })).toBe('started');
  });

  it('readConfig refuses an invalid port, window or number', () => {
    for (const bad of ['0', '65536', '3001x', '-1', '1e3', '99999999999']) {
      expect(refusal({ PORT: bad })).toBe(`Invalid PORT: "${bad}"`);
    }
    for (const bad of ['0', '-5', '1.5', 'soon']) {
      expect(refusal({ X402_VALID_BEFORE_SECONDS: bad })).toBe(
        `Invalid X402_VALID_BEFORE_SECONDS: "${bad}"`,
      );
    }
    expect(refusal({ DRAIN_SECONDS: 'x' })).toContain('DRAIN_SECONDS');
    expect(refusal({ RC12_RATE_LIMIT_PER_MINUTE: '-3' })).toContain('RC12_RATE_LIMIT_PER_MINUTE');
    expect(refusal({ DATABASE_URL: 'mysql://x' })).toContain('DATABASE_URL');
    expect(refusal({ FACILITATOR_PRIVATE_KEY: '0x12' })).toContain('FACILITATOR_PRIVATE_KEY');
  });

  it('readConfig ignores the threshold of an advisory that is off, and refuses a wrong threshold where the advisory is on', () => {
    for (const name of ['BUDGET_ADVISORY', 'RATELIMIT_ADVISORY']) {
      const wrong = { [`${name}_NEAR_LIMIT_BPS`]: '20000' };
      const { budgetAdvisory, rateLimitAdvisory } = readConfig(wrong);
      expect(budgetAdvisory).toEqual({ enabled: false, nearLimitBps: undefined });
      expect(rateLimitAdvisory).toEqual({ enabled: false, nearLimitBps: undefined });
      expect(() => readConfig({ ...wrong, [`${name}_ENABLED`]: '1' })).toThrow(
        `Invalid ${name}_NEAR_LIMIT_BPS "20000"`,
      );
    }
  });

  it('readConfig allows zero confirmations, quick reconciliation and a large clock skew in tests, but not in production', () => {
    expect(readConfig({}).chain).toMatchObject({
      chainId: 8_453,
      confirmations: 4,
      reconcileSeconds: 15,
      clockSkewSeconds: 30,
    });
    const quick = {
      CHAIN_CONFIRMATIONS: '0',
      RECONCILE_SECONDS: '0.2',
      CHAIN_CLOCK_SKEW_SECONDS: '900000',
    };
    expect(readConfig(quick).chain).toMatchObject({
      confirmations: 0,
      reconcileSeconds: 0.2,
      clockSkewSeconds: 900_000,
    });
    for (const [name, value] of Object.entries(quick)) {
      expect(refusal({ ...production, [name]: value })).toMatch(
        new RegExp(`^Invalid ${name} "${value}": production`),
      );
      expect(refusal({ [name]: '-1' })).toMatch(new RegExp(`^Invalid ${name}`));
      expect(refusal({ [name]: 'soon' })).toMatch(new RegExp(`^Invalid ${name}`));
    }
    const said = {
      CHAIN_CONFIRMATIONS: '1',
      RECONCILE_SECONDS: '15',
      CHAIN_CLOCK_SKEW_SECONDS: '30',
    };
    expect(refusal({ ...production, ...said })).toBe('started');
  });

  it('readConfig refuses the zero address and the token’s own address as treasury', () => {
    const usdc = `0x${'cC'.repeat(20)}`;
    for (const treasury of [usdc.toLowerCase(), `0x${'0'.repeat(40)}`, '0x12']) {
      expect(refusal({ USDC_ADDRESS: usdc, TREASURY_ADDRESS: treasury })).toMatch(
        new RegExp(`^Invalid TREASURY_ADDRESS "${treasury}"`),
      );
    }
    const treasury = `0x${'7e'.repeat(20)}`;
    expect(readConfig({ TREASURY_ADDRESS: treasury }).chain).toMatchObject({ treasury });
  });

  it('readConfig allows production without a secret for provider keys, but refuses a short secret', () => {
    expect(readConfig(production).providerKeySecret).toBeUndefined();
    const secret = 'p'.repeat(32);
    expect(readConfig({ ...production, PROVIDER_KEY_SECRET: secret })).toMatchObject({
      providerKeySecret: secret,
    });
    const short = refusal({ ...production, PROVIDER_KEY_SECRET: 'shortsecret' });
    expect(short).toBe('Invalid PROVIDER_KEY_SECRET: must have at least 32 characters');
  });

  it('readConfig never prints the value of a secret that it refuses', () => {
    expect(refusal({ FACILITATOR_PRIVATE_KEY: '0xsecretsecret' })).not.toContain('secretsecret');
    for (const name of ['RPC_URL', 'INDEXER_HTTP_ENDPOINT']) {
      expect(refusal({ [name]: 'node.example/v2/secretsecret' })).toMatch(
        new RegExp(`^Invalid ${name}: `),
      );
    }
  });

  it('readConfig treats an empty variable as an unset variable', () => {
    const nothing = Object.fromEntries(VARIABLES.map((name) => [name, '']));
    expect(readConfig(nothing)).toEqual(readConfig({}));
  });

  it('readConfig reads no variable that .env.example and docs/configuration.md leave out', () => {
    expect(VARIABLES.length).toBeGreaterThan(30);
    for (const file of ['.env.example', 'docs/configuration.md']) {
      const text = readFileSync(file, 'utf8');
      expect(
        VARIABLES.filter((name) => !text.includes(name)),
        file,
      ).toEqual([]);
    }
  });

  it('readConfig treats a variable that is set to its documented default like an unset variable', () => {
    const documented = [...variablesOf(SECTIONS).values()].flatMap((variables) => [...variables]);
    const defaults = documented.flatMap(([name, { default: own, defaultsTo }]) => {
      const value = own ?? defaultsTo;
      return value === undefined ? [] : [[name, String(value)] as const];
    });
    expect(defaults.length).toBeGreaterThan(15);
    for (const [name, value] of defaults) {
      expect(readConfig({ [name]: value }), name).toEqual(readConfig({}));
    }
  });

  it('readConfig requires in production exactly the variables that docs/configuration.md marks as required', () => {
    const required = [...variablesOf(SECTIONS).values()].flatMap((variables) =>
      [...variables].flatMap(([name, each]) => (each.requiredInProduction ? [name] : [])),
    );
    const { NODE_ENV, ...given } = production;
    expect(required.sort()).toEqual(Object.keys(given).sort());
    expect(readConfig(production).environment).toBe(NODE_ENV);
    for (const name of required) {
      expect(refusal({ ...production, [name]: undefined })).toMatch(
        new RegExp(`^${name} is required`),
      );
    }
  });
});
