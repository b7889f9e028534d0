import { sinceBaseline } from '../adopt-baseline.ts';
import type { Sql, SqlTransaction } from '../sql.ts';
import type { TableDone } from './backup-database.ts';
import { type CopyIn, copyIn } from './copy-in.ts';
import { BackupError, type Head, type TableLine, type Tail } from './format.ts';
import { readBackup } from './read-backup.ts';
import { listForeignKeys, listMigrations, listTables } from './schema.ts';

/**
 * Fills an empty, migrated database from a backup, in one sql transaction: either every row, count and
 * checksum is right, or nothing has changed. A database that holds anything is refused.
 */
export async function restoreDatabase(
  sql: Sql,
  source: AsyncIterable<Buffer>,
  onTable: TableDone,
): Promise<void> {
  await sql.begin(async (tx) => {
    await tx.unsafe(
      `set local timezone = 'UTC'; set local datestyle = 'ISO, MDY';
       set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0`,
    );
    const tables = await listTables(tx);
    await requireEmpty(tx, tables);
    const foreignKeys = await listForeignKeys(tx);
    for (const key of foreignKeys) {
      await tx`alter table ${tx(key.table)} drop constraint ${tx(key.name)}`;
    }
    for (const { table } of tables) await tx`alter table ${tx(table)} disable trigger user`;
    const tail = await load(tx, source, tables);
    await verifyCounts(tx, tables, tail, onTable);
    for (const { name, last, called } of tail.sequences) {
      await tx`select setval(${`public.${quoted(name)}`}::regclass, ${last}::bigint, ${called})`;
    }
    for (const { table } of tables) await tx`alter table ${tx(table)} enable trigger user`;
    for (const key of foreignKeys) {
      await tx.unsafe(
        `alter table ${quoted(key.table)} add constraint ${quoted(key.name)} ${key.definition}`,
      );
    }
  });
  await sql`analyze`;
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

async function requireEmpty(tx: SqlTransaction, tables: readonly TableLine[]): Promise<void> {
  for (const { table } of tables) {
    const rows = await tx`select 1 from ${tx(table)} limit 1`;
    if (rows.length === 0) continue;
    throw new BackupError(
      `The database is not empty (table ${table} has rows): restore wants an empty one, and changes nothing here.`,
    );
  }
}

async function load(
  tx: SqlTransaction,
  source: AsyncIterable<Buffer>,
  tables: readonly TableLine[],
): Promise<Tail> {
  let into: CopyIn | undefined;
  try {
    for await (const piece of readBackup(source)) {
      switch (piece.kind) {
        case 'head':
          await requireSameSchema(tx, piece.head);
          break;
        case 'table':
          requireKnown(piece.table, tables);
          into = await copyIn(tx, piece.table);
          break;
        case 'rows':
          await into?.write(piece.bytes);
          break;
        case 'table_end':
          await into?.end();
          into = undefined;
          break;
        case 'tail':
          return piece.tail;
      }
    }
  } finally {
    into?.abort();
  }
  throw new BackupError('The backup is cut off.');
}

async function requireSameSchema(tx: SqlTransaction, head: Head): Promise<void> {
  const here = sinceBaseline(await listMigrations(tx));
  const there = sinceBaseline(head.migrations);
  if (here.length === there.length && here.every((hash, i) => hash === there[i])) return;
  throw new BackupError(
    `The backup of ${head.createdAt} has another schema (${there.length} migrations, this program ${here.length}): restore it with the release that made it, then upgrade.`,
  );
}

function requireKnown({ table, columns }: TableLine, tables: readonly TableLine[]): void {
  const here = tables.find((candidate) => candidate.table === table);
  const unknown = columns.find((column) => !here?.columns.includes(column));
  if (here !== undefined && unknown === undefined) return;
  throw new BackupError(`The backup has ${table}.${unknown ?? '*'}, which this schema does not.`);
}

async function verifyCounts(
  tx: SqlTransaction,
  tables: readonly TableLine[],
  tail: Tail,
  onTable: TableDone,
): Promise<void> {
  for (const { table } of tables) {
    const [found] = await tx<{ count: bigint }[]>`select count(*) as count from ${tx(table)}`;
    const count = Number(found?.count);
    const wanted = tail.rows[table] ?? 0;
    if (count !== wanted) {
      throw new BackupError(`Table ${table} has ${count} rows where the backup has ${wanted}.`);
    }
    onTable(table, count);
  }
}
