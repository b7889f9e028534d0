import type { Sql } from '../../platform/postgres/sql.ts';
import { errorCode } from '../../platform/postgres/transient.ts';
import { createTables, findExtension, installExtension, seesTypes } from './extension-store.ts';

/** Oldest supported version of pgvector. Earlier versions stop at a filter and return fewer rows than exist. */
const OLDEST = [0, 8] as const;

/** Error codes of PostgreSQL for a role without the right, or for extension files that cannot be read. */
const REFUSALS = new Set(['42501', '58P01', '0A000', 'F0000']);

/**
 * Installs pgvector in this database and creates the tables of its index. Returns the reason when that is not possible;
 * undefined when all is ready. Rejects when the database does not answer.
 */
export async function preparePgvector(sql: Sql): Promise<string | undefined> {
  const found = await findExtension(sql);
  if (found === undefined) return 'the PostgreSQL server does not have the extension vector';
  const version = found.installed ?? found.available;
  if (isOlder(version)) return `its extension vector is ${version}, and 0.8 is needed`;
  try {
    if (found.installed === null) await installExtension(sql);
    if (!(await seesTypes(sql))) return 'its extension vector is in a schema off the search path';
    await createTables(sql);
  } catch (error) {
    if (!REFUSALS.has(errorCode(error) ?? '')) throw error;
    return `the extension vector cannot be set up (${(error as Error).message})`;
  }
  return undefined;
}

function isOlder(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
}
