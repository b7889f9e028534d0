import { readConfig } from '../../config/config.ts';
import { createLog } from '../../kernel/log.ts';
import { type Database, openDatabase } from '../../platform/postgres/database.ts';

/** The configured database, over one connection. `adopt`: it may be the embedded one of a server that runs. */
export const openConfigured = ({ adopt }: { readonly adopt: boolean }): Promise<Database> =>
  openDatabase({ database: readConfig().database, log: createLog('warn'), connections: 1, adopt });
