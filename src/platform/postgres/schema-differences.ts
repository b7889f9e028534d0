import type { SqlTransaction } from './sql.ts';

const TRIAL = 'svc_baseline_trial';
const BREAKPOINT = '--> statement-breakpoint';

/**
 * Compares the schema `public` with the schema that `baseline` makes, and returns a line for each thing that `public` lacks or
 * has otherwise: tables, columns in any order, constraints, indexes, sequences and functions. Objects that only `public` has
 * are left out. Runs the baseline in a schema of its own, which is dropped again. Changes the search path of `tx`.
 */
export async function schemaDifferences(tx: SqlTransaction, baseline: string): Promise<string[]> {
  await tx.unsafe(`create schema ${TRIAL}; set local search_path = ${TRIAL}`);
  for (const statement of baseline.replaceAll('"public".', '').split(BREAKPOINT)) {
    await tx.unsafe(statement);
  }
  const expected = await describeSchema(tx, TRIAL);
  await tx.unsafe(`drop schema ${TRIAL} cascade`);
  const found = new Set(await describeSchema(tx, 'public'));
  return expected.filter((line) => !found.has(line));
}

/** Returns a line for each object of `schema`, without the schema's name and in the order of the lines. */
async function describeSchema(tx: SqlTransaction, schema: string): Promise<string[]> {
  await tx`select set_config('search_path', ${schema}, true)`;
  const rows = await tx<{ line: string }[]>`
    with relations as (
      select oid, relname as name, relkind, relpersistence, reloptions from pg_class
      where relnamespace = ${schema}::regnamespace and relkind in ('r', 'S'))
    select concat_ws(' ', 'table', name, relpersistence, reloptions::text) as line
      from relations where relkind = 'r'
    union all
    select concat_ws(' ', 'column', t.name || '.' || a.attname, format_type(a.atttypid, a.atttypmod),
        case when a.attnotnull then 'not null' end, pg_get_expr(d.adbin, d.adrelid), a.attidentity::text,
        a.attgenerated::text, 'storage ' || a.attstorage::text, l.collname)
      from relations t join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
      left join pg_attrdef d on d.adrelid = t.oid and d.adnum = a.attnum
      left join pg_collation l on l.oid = a.attcollation where t.relkind = 'r'
    union all
    select concat_ws(' ', 'constraint', t.name || '.' || c.conname, pg_get_constraintdef(c.oid))
      from relations t join pg_constraint c on c.conrelid = t.oid and c.contype <> 'n'
    union all
    select concat_ws(' ', 'index', pg_get_indexdef(i.indexrelid))
      from relations t join pg_index i on i.indrelid = t.oid
    union all
    select concat_ws(' ', 'sequence', s.name, format_type(q.seqtypid, null), q.seqstart, q.seqincrement, q.seqmax, q.seqcycle)
      from relations s join pg_sequence q on q.seqrelid = s.oid
    union all
    select concat_ws(' ', 'function', pg_get_functiondef(oid)) from pg_proc
      where pronamespace = ${schema}::regnamespace
    order by 1`;
  return rows.map(({ line }) => line.replaceAll(`${schema}.`, ''));
}
