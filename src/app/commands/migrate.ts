import { readConfig } from '../../config/config.ts';
import { createLog } from '../../kernel/log.ts';
import { openDatabase } from '../../platform/postgres/database.ts';
import { describeTarget } from '../../platform/postgres/describe-target.ts';
import { runCommand } from './run-command.ts';

/** `npm run migrate`: brings the schema of the configured database up to date. */
await runCommand(async () => {
  const { database } = readConfig();
  await using opened = await openDatabase({
    database,
    log: createLog('warn'),
    connections: 1,
    adopt: true,
  });
  await opened.migrate();
  console.log(`${describeTarget(opened.target)} is up to date`);
});
