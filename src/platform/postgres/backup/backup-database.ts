import { createHash } from 'node:crypto';
import { type Clock, isoTime } from '../../../kernel/clock.ts';
import type { Sql, SqlTransaction } from '../sql.ts';
import { copyOut } from './copy-out.ts';
import { BACKUP_VERSION, BackupError, type Head, ROWS_END, type Tail } from './format.ts';
import { listMigrations, listSequences, listTables } from './schema.ts';

export type TableDone = (table: string, rows: number) => void;

/**
 * Writes the whole database as of one instant, while other processes go on writing. `consume` gets the text of the backup and
 * sets the pace; the snapshot is released when `consume` has resolved.
 */
export async function backupDatabase(
  sql: Sql,
  options: { clock: Clock; onTable: TableDone },
  consume: (text: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<void> {
  await sql.begin('isolation level repeatable read read only', async (tx) => {
    await tx.unsafe(
      `set local timezone = 'UTC'; set local datestyle = 'ISO, MDY'; set local intervalstyle = 'postgres';
       set local bytea_output = 'hex'; set local extra_float_digits = 3;
       set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0`,
    );
    await consume(backupText(tx, options));
  });
}

async function* backupText(
  tx: SqlTransaction,
  { clock, onTable }: { clock: Clock; onTable: TableDone },
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  const rows: Record<string, number> = {};
  const hashed = (bytes: Buffer) => {
    hash.update(bytes);
    return bytes;
  };
  yield hashed(await headLine(tx, clock));
  for (const table of await listTables(tx)) {
    yield hashed(jsonLine(table));
    let count = 0;
    for await (const { text, rows: more } of copyOut(tx, table)) {
      count += more;
      yield hashed(text);
    }
    yield hashed(Buffer.from(ROWS_END));
    rows[table.table] = count;
    onTable(table.table, count);
  }
  const tail: Tail = { rows, sequences: await listSequences(tx), sha256: hash.digest('hex') };
  yield jsonLine(tail);
}

const jsonLine = (value: unknown): Buffer => Buffer.from(`${JSON.stringify(value)}\n`);

async function headLine(tx: SqlTransaction, clock: Clock): Promise<Buffer> {
  const migrations = await listMigrations(tx);
  if (migrations.length === 0)
    throw new BackupError('This database was never set up: it is empty.');
  const createdAt = isoTime(clock.now());
  const head: Head = { format: 'svc-backup', version: BACKUP_VERSION, createdAt, migrations };
  return jsonLine(head);
}
