import { describe, expect, it } from 'vitest';
import { createKeyUse } from '../../../../src/accounts/keys/key-use.ts';
import type { Sql } from '../../../../src/platform/postgres/sql.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

/** Writes what it is given into `written`, or refuses while `isAway`. */
function fakeDatabase() {
  const written: unknown[][] = [];
  const state = { isAway: false, written };
  const sql = (first: unknown, ...values: unknown[]) => {
    if (!Array.isArray(first)) return first;
    if (state.isAway) return Promise.reject(new Error('the database is away'));
    written.push(values);
    return Promise.resolve();
  };
  return { state, sql: sql as unknown as Sql };
}

describe('createKeyUse', () => {
  it('createKeyUse keeps a failed write for the next flush, and a later use wins', async () => {
    const clock = new ManualClock();
    const { sql, state } = fakeDatabase();
    const keyUse = createKeyUse({ sql, clock });
    const first = clock.now() / 1_000;
    keyUse.touch('agent', 1);
    keyUse.touch('agent', 2);
    state.isAway = true;
    await expect(keyUse.flush()).rejects.toThrow('away');
    clock.advance(5_000);
    keyUse.touch('agent', 2);
    state.isAway = false;
    await keyUse.flush();
    await keyUse.flush();
    expect(state.written).toHaveLength(1);
    expect(state.written[0]).toEqual(
      expect.arrayContaining([
        [1, 2],
        [first, first + 5],
      ]),
    );
  });

  it('createKeyUse writes each kind of key into its own table', async () => {
    const { sql, state } = fakeDatabase();
    const keyUse = createKeyUse({ sql, clock: new ManualClock() });
    for (const kind of ['agent', 'developer', 'provider'] as const) keyUse.touch(kind, 1);
    await keyUse.flush();
    const tables = ['agent_keys', 'developer_keys', 'provider_keys'];
    expect(
      state.written.map((values) => values.filter((v) => tables.includes(v as string))),
    ).toEqual(tables.map((table) => [table, table]));
  });
});
