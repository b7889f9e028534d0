import { describe, expect, it } from 'vitest';
import { credentialErrors } from '../../../../src/accounts/errors.ts';
import { createStrangerGate } from '../../../../src/http/server/stranger-gate.ts';
import { ApiError } from '../../../../src/kernel/api-error.ts';
import { orchestratorErrors } from '../../../../src/orchestrators/errors.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const asked = { route: {}, clientAddress: () => '203.0.113.1' };
const gate = () =>
  createStrangerGate(new ManualClock(), {
    anonymous: { burst: 2, perMinute: 1 },
    failedCredentials: { burst: 2, perMinute: 1 },
  });

async function statusOf(work: () => unknown): Promise<number | string> {
  try {
    await work();
    return 'passed';
  } catch (thrown) {
    return thrown instanceof ApiError ? thrown.status : 'failed';
  }
}

describe('the gate for strangers', () => {
  it('the stranger gate runs no credential check for a network that has failed too often', async () => {
    const strangers = gate();
    let runs = 0;
    const guess = () =>
      strangers.attempt(asked, 'guess', async () => {
        runs += 1;
        throw credentialErrors.invalidKey();
      });
    const statuses = [await statusOf(guess), await statusOf(guess), await statusOf(guess)];
    expect([statuses, runs]).toEqual([[401, 401, 429], 2]);
  });

  it('the stranger gate counts a token in a path that no connection has', async () => {
    const strangers = gate();
    const guess = () =>
      strangers.attempt(asked, 'token', () => Promise.reject(orchestratorErrors.unknownUrl()));
    expect([await statusOf(guess), await statusOf(guess), await statusOf(guess)]).toEqual([
      404, 404, 429,
    ]);
  });

  it.each([
    ['a good credential', async () => 'caller', 'passed'],
    ['a known caller who may not', () => Promise.reject(credentialErrors.readOnly()), 403],
    ['a database that is away', () => Promise.reject(new Error('ECONNRESET')), 'failed'],
  ])(
    'the stranger gate takes no token for %s',
    async (_who, check: () => Promise<unknown>, status) => {
      const strangers = gate();
      for (let i = 0; i < 10; i++) {
        expect(await statusOf(() => strangers.attempt(asked, 'shown', check))).toBe(status);
      }
    },
  );

  it('the stranger gate still checks a once good credential from a refused network, until that credential fails', async () => {
    const strangers = gate();
    const show = (shown: string, isGood: boolean) =>
      statusOf(() =>
        strangers.attempt(asked, shown, async () => {
          if (!isGood) throw credentialErrors.invalidKey();
        }),
      );
    expect(await show('good key', true)).toBe('passed');
    for (let i = 0; i < 5; i++) await show(`guess ${i}`, false);
    expect(await show('another good key', true)).toBe(429);
    expect(await show('good key', true)).toBe('passed');
    expect([await show('good key', false), await show('good key', false)]).toEqual([401, 429]);
  });

  it('the stranger gate counts requests without a credential apart from failed credentials', async () => {
    const strangers = gate();
    for (let i = 0; i < 5; i++) await statusOf(() => strangers.countFailure(asked));
    expect(await statusOf(() => strangers.admitAnonymous(asked))).toBe('passed');
  });
});
