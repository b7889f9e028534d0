import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../src/kernel/log.ts';
import { openDatabase } from '../src/platform/postgres/database.ts';
import type { DatabaseTarget, Sql } from '../src/platform/postgres/sql.ts';
import { startIn } from '../test/support/embedded.ts';

/** Runs `work` on an embedded database of its own, with these settings beside the usual ones, which is deleted afterwards. */
export async function withDatabase<T>(
  work: (sql: Sql, target: DatabaseTarget) => Promise<T>,
  settings: Readonly<Record<string, string>> = {},
): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'bench-'));
  try {
    await using server = await startIn(join(directory, 'db'), { settings });
    await using database = await openDatabase({
      database: server.target,
      log: silentLog,
      connections: 4,
    });
    await database.migrate();
    return await work(database.sql, database.target);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
