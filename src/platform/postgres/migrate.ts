import { drizzle } from 'drizzle-orm/postgres-js';
import { migrate } from 'drizzle-orm/postgres-js/migrator';
import { adoptBaseline } from './adopt-baseline.ts';
import { DatabaseUnreachable } from './await-server.ts';
import { describeTarget } from './describe-target.ts';
import { migrationsFolder } from './migrations-folder.ts';
import type { DatabaseTarget, Sql } from './sql.ts';
import { openSql } from './sql.ts';
import { errorCode } from './transient.ts';

/** Key of the advisory lock. Any fixed number works; every process that migrates this schema must use the same number. */
const MIGRATION_LOCK = 4_021_402;
const LOCK_TIMEOUT_MS = 120_000;
const LOCK_NOT_AVAILABLE = '55P03';
const FIND_HOLDER =
  'select a.pid, a.client_addr, a.state from pg_locks l join pg_stat_activity a using (pid) ' +
  `where l.locktype = 'advisory' and l.objid = ${MIGRATION_LOCK} and l.granted ` +
  'and a.datname = current_database();';

/**
 * Brings the schema up to date, in one SQL transaction. Any number of processes may call it at once: one process migrates, the
 * other processes wait and find nothing to do. Rejects after `lockTimeoutMs` with a query that finds the holder of the lock,
 * and with SchemaNotKnown for a database that other migrations made; see adoptBaseline.
 */
export async function migrateDatabase(
  target: DatabaseTarget,
  lockTimeoutMs = LOCK_TIMEOUT_MS,
): Promise<void> {
  const lockSql = openSql(target, 1);
  try {
    await lockSql.unsafe(`set lock_timeout = ${lockTimeoutMs}`);
    await lockSql`select pg_advisory_lock(${MIGRATION_LOCK})`.catch((error: unknown) => {
      if (errorCode(error) !== LOCK_NOT_AVAILABLE) throw error;
      throw new DatabaseUnreachable(
        `Cannot migrate ${describeTarget(target)}: another process has held its advisory lock ` +
          `${MIGRATION_LOCK} for ${lockTimeoutMs / 1_000} s. This finds it: ${FIND_HOLDER}`,
      );
    });
    await applyMigrations(target);
  } finally {
    // The lock belongs to the session: it ends with the connection.
    await lockSql.end({ timeout: 5 });
  }
}

/** Applies the migrations on a client of their own, because Drizzle changes the parsers of the client that it is given. */
async function applyMigrations(target: DatabaseTarget): Promise<void> {
  const own: Sql = openSql(target, 1);
  try {
    await adoptBaseline(own);
    await migrate(drizzle(own), { migrationsFolder: migrationsFolder() });
  } finally {
    await own.end({ timeout: 5 });
  }
}
