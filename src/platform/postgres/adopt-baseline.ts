import { listMigrations } from './backup/schema.ts';
import { type Baseline, readBaseline } from './migrations-folder.ts';
import { schemaDifferences } from './schema-differences.ts';
import type { Sql } from './sql.ts';

const DIFFERENCES_TOLD = 3;
const DIFFERENCE_CHARS = 120;

/** A schema that this program cannot bring up to date, in a sentence for the operator. */
export class SchemaNotKnown extends Error {
  override readonly name = 'SchemaNotKnown';
}

/**
 * Marks a database that all migrations before the baseline have made as a database that has the baseline; its tables and rows
 * stay unchanged. Changes nothing in an empty database or when the baseline is there. Throws SchemaNotKnown, and changes
 * nothing, when a migration before the baseline is missing, other migrations were applied, or the schema differs.
 */
export async function adoptBaseline(sql: Sql): Promise<void> {
  const baseline = readBaseline();
  const applied = await listMigrations(sql);
  if (applied.length === 0 || applied[0] === baseline.hash) return;
  requireAll(applied, baseline);
  await sql.begin(async (tx) => {
    const differences = await schemaDifferences(tx, baseline.text);
    if (differences.length > 0) throw new SchemaNotKnown(differ(differences));
    await tx`delete from drizzle.__drizzle_migrations`;
    await tx`
      insert into drizzle.__drizzle_migrations (hash, created_at)
      values (${baseline.hash}, ${String(baseline.when)}::bigint)`;
  });
}

/** Returns the applied migrations with the baseline in place of all migrations before it. */
export function sinceBaseline(applied: readonly string[]): readonly string[] {
  const { before, hash } = readBaseline();
  const isBefore = before.every(({ sha256 }, i) => applied[i] === sha256);
  return isBefore ? [hash, ...applied.slice(before.length)] : applied;
}

function requireAll(applied: readonly string[], { before }: Baseline): void {
  const known = before.findIndex(({ sha256 }, i) => applied[i] !== sha256);
  if (known === -1 && applied.length === before.length) return;
  const last = before.at(-1)?.tag ?? '';
  if (known === applied.length) {
    throw new SchemaNotKnown(
      `The database has ${known} of the ${before.length} migrations before ${last}: start the newest version that still has ` +
        `migrations/${last}.sql on it once, then this one.`,
    );
  }
  const unknown = known === -1 ? before.length : known;
  throw new SchemaNotKnown(
    `The database has ${applied.length} migrations, and number ${unknown + 1} of them is none of this program: ` +
      'start the program that made this database, or name another database.',
  );
}

function differ(differences: readonly string[]): string {
  const told = differences
    .slice(0, DIFFERENCES_TOLD)
    .map((line) => line.slice(0, DIFFERENCE_CHARS));
  const more = differences.length - told.length;
  return (
    'The database has every migration of this program, but its schema was changed by something else. It lacks: ' +
    `${told.join('; ')}${more > 0 ? `; and ${more} more` : ''}. Restore these, then start again.`
  );
}
