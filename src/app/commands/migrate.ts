import { describeTarget } from '../../platform/postgres/describe-target.ts';
import { openConfigured } from './open-configured.ts';
import { runCommand } from './run-command.ts';

/** `npm run migrate`: migrates the configured database to the current schema. */
await runCommand(async () => {
  await using opened = await openConfigured({ adopt: true });
  await opened.migrate();
  console.log(`${describeTarget(opened.target)} is up to date`);
});
