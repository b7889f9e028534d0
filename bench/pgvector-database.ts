import { fork } from 'node:child_process';
import { silentLog } from '../src/kernel/log.ts';
import { preparePgvector } from '../src/memory/pgvector/prepare-pgvector.ts';
import { openDatabase } from '../src/platform/postgres/database.ts';
import { openSql, type Sql } from '../src/platform/postgres/sql.ts';
import { compiled } from '../test/support/compiled.ts';
import { nextMessage } from '../test/support/next-message.ts';

/**
 * Runs `work` on a database that has pgvector: the server at TEST_DATABASE_URL where it has the extension, with its own
 * `maintenance_work_mem`, else PostgreSQL compiled to WebAssembly in a process of its own, which has one session.
 */
export async function withPgvector<T>(
  work: (sql: Sql, server: 'native' | 'WebAssembly') => Promise<T>,
): Promise<T> {
  const url = process.env.TEST_DATABASE_URL;
  if (url !== undefined) {
    const place = { kind: 'url', url } as const;
    await using database = await openDatabase({ database: place, log: silentLog, connections: 4 });
    await database.migrate();
    if ((await preparePgvector(database.sql)) === undefined)
      return await work(database.sql, 'native');
  }
  const child = fork(compiled('bench/pgvector-host.ts'), { execArgv: [] });
  try {
    const told = await nextMessage<{ url: string }>(child);
    const sql = openSql({ kind: 'url', url: told.url }, 1);
    await sql`set maintenance_work_mem = '512MB'`;
    const lacks = await preparePgvector(sql);
    if (lacks !== undefined) throw new Error(lacks);
    const result = await work(sql, 'WebAssembly');
    await sql.end({ timeout: 1 });
    return result;
  } finally {
    child.kill('SIGKILL');
  }
}
