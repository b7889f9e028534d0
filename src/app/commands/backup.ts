import { createWriteStream, existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { systemClock } from '../../kernel/clock.ts';
import { backupDatabase } from '../../platform/postgres/backup/backup-database.ts';
import { BackupError } from '../../platform/postgres/backup/format.ts';
import { openConfigured } from './open-configured.ts';
import { fileArgument, runCommand } from './run-command.ts';

/** `npm run backup -- FILE`: writes one consistent snapshot of the whole database, also while a server works on it. */
async function backup(file: string): Promise<void> {
  if (existsSync(file)) throw new BackupError(`${file} exists already: name another file.`);
  await using opened = await openConfigured({ adopt: true });
  const unfinished = `${file}.partial`;
  let total = 0;
  const onTable = (table: string, rows: number) => {
    total += rows;
    console.log(`${table}: ${rows} rows`);
  };
  try {
    await backupDatabase(opened.sql, { clock: systemClock, onTable }, async (text) => {
      // The backup holds the hash of every key, so only the file's owner may read it.
      const output = createWriteStream(unfinished, { mode: 0o600, flush: true });
      await pipeline(text, createGzip(), output);
    });
    await rename(unfinished, file);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
  console.log(`${file} holds ${total} rows`);
}

const file = fileArgument('npm run backup -- FILE.gz');
if (file !== undefined) await runCommand(() => backup(file));
