import { describe, expect, it } from 'vitest';
import { readProcess } from '../../../../../src/platform/postgres/embedded/process-info.ts';
import { backoffMs, supervise } from '../../../../../src/platform/postgres/embedded/supervisor.ts';
import { fakePostgres } from '../../../../support/fake-postgres.ts';

describe('restarting the database', () => {
  it('the database restarts at once the first time, then with a backoff up to five seconds', () => {
    expect([0, 1, 2, 3, 10, 500].map(backoffMs)).toEqual([0, 200, 400, 800, 5_000, 5_000]);
  });

  it('the database’s restart is given up as soon as the supervisor stops', async () => {
    using fake = fakePostgres({ ready: true });
    const supervisor = await supervise(fake.options);
    process.kill(fake.starts()[0] ?? 0, 'SIGKILL');
    // The second one never becomes ready.
    await expect.poll(() => fake.starts().length, { timeout: 5_000 }).toBe(2);
    await supervisor[Symbol.asyncDispose]();
    expect(fake.starts().map((pid) => readProcess(pid).state)).toEqual(['absent', 'absent']);
  });
});
