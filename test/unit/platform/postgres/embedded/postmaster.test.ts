import { describe, expect, it } from 'vitest';
import { launchPostmaster } from '../../../../../src/platform/postgres/embedded/postmaster.ts';
import { readProcess } from '../../../../../src/platform/postgres/embedded/process-info.ts';
import { fakePostgres } from '../../../../support/fake-postgres.ts';

describe('a server that is being started', () => {
  it('a database server that is starting is stopped when the start is aborted', async () => {
    using fake = fakePostgres({ ready: false });
    const calledOff = new AbortController();
    const launch = launchPostmaster({ ...fake.options, signal: calledOff.signal });
    const told = expect(launch).rejects.toThrow('the operator stopped it');
    await expect.poll(() => fake.starts().length, { timeout: 5_000 }).toBe(1);
    calledOff.abort(new Error('the operator stopped it'));
    await told;
    expect(fake.starts().map((pid) => readProcess(pid).state)).toEqual(['absent']);
  });
});
