import { drizzle } from 'drizzle-orm/postgres-js';
import { migrate } from 'drizzle-orm/postgres-js/migrator';
import { migrationsFolder } from './migrations-folder.ts';
import type { DatabaseTarget, Sql } from './sql.ts';
import { openSql } from './sql.ts';
import { errorCode } from './transient.ts';

/** Any fixed number does; every process that migrates this schema must use the same one. */
const MIGRATION_LOCK = 4_021_402;
const LOCK_TIMEOUT = '120s';
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Brings the schema up to date. Any number of processes may call it at once: one migrates, the others
 * wait and find nothing to do. Everything is applied in one SQL transaction or not at all.
 */
export async function migrateDatabase(target: DatabaseTarget): Promise<void> {
  const lockSql = openSql(target, 1);
  try {
    await lockSql.unsafe(`set lock_timeout = '${LOCK_TIMEOUT}'`);
    await lockSql`select pg_advisory_lock(${MIGRATION_LOCK})`.catch(explainLock);
    await applyMigrations(target);
  } finally {
    // The lock is the session's: it goes with the connection.
    await lockSql.end({ timeout: 5 });
  }
}

function explainLock(error: unknown): never {
  if (errorCode(error) !== LOCK_NOT_AVAILABLE) throw error;
  throw new Error(
    `Another process has been migrating this database for ${LOCK_TIMEOUT}: see to it.`,
  );
}

/** Drizzle changes the parsers of the client it is given, so it gets one of its own. */
async function applyMigrations(target: DatabaseTarget): Promise<void> {
  const own: Sql = openSql(target, 1);
  try {
    await migrate(drizzle(own), { migrationsFolder: migrationsFolder() });
  } finally {
    await own.end({ timeout: 5 });
  }
}
