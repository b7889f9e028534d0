import { z } from 'zod';

/**
 * Version of the backup format: gzip over text. A line of JSON opens it; then, for each table, a line of JSON and its rows in
 * PostgreSQL's COPY text form, ended by the line `\.`; a last line of JSON states the rows of each table, the sequences and a
 * checksum.
 */
export const BACKUP_VERSION = 1;

export const Head = z.object({
  format: z.literal('svc-backup'),
  version: z.literal(BACKUP_VERSION),
  createdAt: z.string(),
  /** Hashes of the migrations that made this schema, in order. */
  migrations: z.array(z.string()),
});

export const TableLine = z.object({ table: z.string(), columns: z.array(z.string()).min(1) });

export const Tail = z.object({
  rows: z.record(z.string(), z.number().int().nonnegative()),
  sequences: z.array(z.object({ name: z.string(), last: z.string(), called: z.boolean() })),
  /** SHA-256 of every byte before this line, uncompressed. */
  sha256: z.string(),
});

export type Head = z.infer<typeof Head>;
export type TableLine = z.infer<typeof TableLine>;
export type Tail = z.infer<typeof Tail>;

export const ROWS_END = '\\.\n';

/** Thrown for a backup or a restore that cannot be done. The message is a sentence for the operator. */
export class BackupError extends Error {
  override readonly name = 'BackupError';
}
