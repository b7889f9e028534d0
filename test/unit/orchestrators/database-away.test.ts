import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { systemRandom } from '../../../src/kernel/random.ts';
import { seal } from '../../../src/kernel/seal.ts';
import { hashOfToken, secretPlace } from '../../../src/orchestrators/connection.ts';
import { PROVIDERS, type Provider } from '../../../src/orchestrators/platform.ts';
import { createPlatformHooks } from '../../../src/orchestrators/platform-hooks.ts';
import type { Sql } from '../../../src/platform/postgres/sql.ts';
import { createFakeLedger } from '../../support/fake-ledger.ts';
import { proofOf } from '../../support/platform-world.ts';

const TOKEN = 't'.repeat(43);
const SEALING = 'sealing secret of the server';
const SECRET = 'secret-of-the-platform';
const never = () => new Promise<never>(() => {});
const failed = () => Promise.reject(Object.assign(new Error('gone'), { code: 'ECONNREFUSED' }));

/** What the database says of the only connection. */
function rowOf(provider: Provider) {
  const place = { accountId: 'acct_1', agentId: 1, provider };
  return {
    hash: hashOfToken(TOKEN).toString('hex'),
    id: 1,
    account_id: place.accountId,
    agent_id: place.agentId,
    provider,
    wallet_address: null,
    status: 'active',
    sealed_secret: seal(SEALING, secretPlace(place), Buffer.from(SECRET), systemRandom),
  };
}

const QUESTIONS: Readonly<Record<Provider, object>> = {
  vapi: { message: { type: 'assistant-request' } },
  retell: { event: 'call_inbound', call_inbound: {} },
  bland: {},
  pipecat: {},
  livekit: {},
};

describe('a question before a call while the database is away', () => {
  it.each([
    ['answers no look-up', never, never],
    ['refuses connections', failed, never],
    ['knows the connection and then goes away', undefined, never],
    ['knows the connection and then refuses', undefined, failed],
  ])(
    'every platform gets its own deny within two seconds when the database %s',
    async (_, onConnection, onState) => {
      const answers = await Promise.all(
        PROVIDERS.map(async (provider) => {
          const sql = (() =>
            onConnection?.() ?? Promise.resolve([rowOf(provider)])) as unknown as Sql;
          const hooks = createPlatformHooks({
            sql,
            clock: systemClock,
            log: silentLog,
            ledger: createFakeLedger(),
            spendState: { read: never, readMany: onState },
            sealingSecret: SEALING,
          });
          const body = JSON.stringify(QUESTIONS[provider]);
          const startedMs = performance.now();
          const request = {
            provider,
            token: TOKEN,
            headers: new Map(Object.entries(proofOf({ provider, secret: SECRET }, body))),
            readBody: async () => Buffer.from(body),
            attempt: <T>(_token: string, check: () => Promise<T>) => check(),
          };
          const { status, body: told } = await hooks.preCall(request, 'a1');
          return { status, told, ms: performance.now() - startedMs };
        }),
      );
      expect(Math.max(...answers.map(({ ms }) => ms))).toBeLessThan(2_000);
      const reason = 'admission_unavailable';
      expect(answers.map(({ status, told }) => [status, told])).toEqual([
        [200, { error: expect.stringMatching(/^Sorry/) }],
        [200, { call_inbound: { reject: true } }],
        [402, { allowed: false, reason }],
        [200, { allowed: false, reason }],
        [200, { allowed: false, reason }],
      ]);
    },
  );
});
