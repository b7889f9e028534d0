import { createReadStream } from 'node:fs';
import { access } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { BackupError } from '../../platform/postgres/backup/format.ts';
import { restoreDatabase } from '../../platform/postgres/backup/restore-database.ts';
import { describeTarget } from '../../platform/postgres/describe-target.ts';
import { openConfigured } from './open-configured.ts';
import { fileArgument, runCommand } from './run-command.ts';

/** `npm run restore -- FILE`: fills an empty database from a backup, completely or not at all. */
async function restore(file: string): Promise<void> {
  await access(file).catch(() => {
    throw new BackupError(`${file} cannot be read.`);
  });
  await using opened = await openConfigured({ adopt: false });
  await opened.migrate();
  let total = 0;
  await pipeline(createReadStream(file), createGunzip(), (text: AsyncIterable<Buffer>) =>
    restoreDatabase(opened.sql, text, (table, rows) => {
      total += rows;
      console.log(`${table}: ${rows} rows`);
    }),
  ).catch((error) => {
    throw isDamaged(error)
      ? new BackupError(`${file} is no whole gzip file: ${error.message}.`)
      : error;
  });
  console.log(`${describeTarget(opened.target)} holds ${total} rows`);
}

const isDamaged = (error: NodeJS.ErrnoException): boolean =>
  error.code?.startsWith('Z_') === true || error.code === 'ERR_STREAM_PREMATURE_CLOSE';

const file = fileArgument('npm run restore -- FILE.gz');
if (file !== undefined) await runCommand(() => restore(file));
