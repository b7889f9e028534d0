import { afterAll, beforeAll, expect, it } from 'vitest';
import { completeSettings } from '../../src/app/local-secrets.ts';
import { startServer } from '../../src/app/server.ts';
import { readConfig } from '../../src/config/config.ts';
import { ConfigError } from '../../src/config/config-error.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { systemRandom } from '../../src/kernel/random.ts';
import { testDatabase } from '../support/database.ts';

let database: Awaited<ReturnType<typeof testDatabase>>;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

const start = (environment: Record<string, string>) =>
  startServer({
    ...completeSettings(readConfig({ DATABASE_URL: '/nowhere', ...environment }), systemRandom),
    database: database.target,
    port: 0,
    log: silentLog,
    clock: systemClock,
    random: systemRandom,
    secret: () => undefined,
  });

const TELNYX = {
  TELNYX_API_KEY: 'KEY',
  TELNYX_PUBLIC_KEY: Buffer.alloc(32, 1).toString('base64'),
  TELNYX_CONNECTION_ID: '1',
  PUBLIC_URL: 'https://phone.example/',
};

it.each([
  ['PHONE_TTS_MODEL', { PHONE_TTS_MODEL: 'none/such' }],
  ['PHONE_STT_MODEL', { PHONE_STT_MODEL: 'local/flite' }],
  ['PHONE_STT_MODEL', { PHONE_STT_MODEL: 'local/grammar' }],
  ['PHONE_MONTHLY_CARRIER_LIMIT_USD', { ...TELNYX, PHONE_MONTHLY_CARRIER_LIMIT_USD: '500' }],
])(
  'a server whose settings would break every call refuses to start, and names %s',
  async (variable, environment) => {
    const started = start(environment);
    await started.then(
      (server) => server[Symbol.asyncDispose](),
      () => {},
    );
    await expect(started).rejects.toThrow(ConfigError);
    await expect(started).rejects.toThrow(variable);
  },
);

it('a server without a carrier starts with any call models', async () => {
  await using server = await start({ PHONE_CARRIER: 'none', PHONE_TTS_MODEL: 'none/such' });
  expect(server.port).toBeGreaterThan(0);
});
