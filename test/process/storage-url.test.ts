import { describe, expect, it } from 'vitest';
import { silentLog } from '../../src/kernel/log.ts';
import { awaitServer } from '../../src/platform/postgres/await-server.ts';
import { openDatabase } from '../../src/platform/postgres/database.ts';
import type { DatabaseTarget } from '../../src/platform/postgres/sql.ts';
import { testDatabase } from '../support/database.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { freePort } from '../support/server-process.ts';
import { targetOn } from '../support/target-on.ts';

/** Time that passes at once whenever code waits for it. */
class HurriedClock extends ManualClock {
  override setTimeout(callback: () => void, delayMs: number) {
    const handle = super.setTimeout(callback, delayMs);
    queueMicrotask(() => this.advance(delayMs));
    return handle;
  }
}

const open = (target: DatabaseTarget) =>
  awaitServer(target, { clock: new HurriedClock(), log: silentLog });

describe('a database that cannot be used', () => {
  it('a database that does not answer is retried for 30 seconds and then named without its password', async () => {
    const url = `postgres://alice:s3cret@127.0.0.1:${await freePort()}/money`;
    const error = await open({ kind: 'url', url }).catch((thrown: Error) => thrown);
    expect(String(error)).toMatch(/Cannot use PostgreSQL at 127\.0\.0\.1:\d+\/money as alice/);
    expect(String(error)).toContain('no answer within 30 s (ECONNREFUSED)');
    expect(String(error)).not.toContain('s3cret');
  });

  it('a database that does not exist is refused at once', async () => {
    await using database = await testDatabase(1);
    await expect(open(targetOn(database.target, 'no_such_database'))).rejects.toThrow(
      'there is no such database (3D000)',
    );
  });
});

describe('a database that answers', () => {
  it('an open database answers a ping and closes its connections when disposed of', async () => {
    await using scratch = await testDatabase(1);
    if (scratch.target.kind === 'url') {
      const database = await openDatabase({ database: scratch.target, log: silentLog });
      expect(await database.ping()).toBeGreaterThan(0);
      await database.migrate();
      await database[Symbol.asyncDispose]();
      await expect(database.ping()).rejects.toThrow('CONNECTION_ENDED');
    } else {
      await open(scratch.target);
    }
    const rows = await scratch.sql`select 1 from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`;
    expect(rows.length).toBeLessThanOrEqual(1);
  });
});
