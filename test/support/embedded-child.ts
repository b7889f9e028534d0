import { silentLog } from '../../src/kernel/log.ts';
import { openDatabase } from '../../src/platform/postgres/database.ts';

/** Commits numbers one after the other and prints each that the database has answered for. */
try {
  const path = process.argv[2] ?? '';
  const database = await openDatabase({
    database: { kind: 'directory', path },
    log: silentLog,
    connections: 2,
  });
  const { sql } = database;
  let going = true;
  process.on('SIGTERM', () => {
    going = false;
  });
  await sql`create table if not exists numbers (n bigint primary key)`;
  const [last] = await sql<{ n: bigint | null }[]>`select max(n) as n from numbers`;
  for (let n = (last?.n ?? 0n) + 1n; going; n++) {
    await sql`insert into numbers (n) values (${String(n)})`;
    process.stdout.write(`${n}\n`);
  }
  await database[Symbol.asyncDispose]();
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
