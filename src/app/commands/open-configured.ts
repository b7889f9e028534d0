import { readConfig } from '../../config/config.ts';
import { createLog } from '../../kernel/log.ts';
import { type Database, openDatabase } from '../../platform/postgres/database.ts';

/**
 * Opens the configured database over one connection. With `adopt`, the database may be the embedded one of a running server.
 */
export const openConfigured = ({ adopt }: { readonly adopt: boolean }): Promise<Database> =>
  openDatabase({ database: readConfig().database, log: createLog('warn'), connections: 1, adopt });
