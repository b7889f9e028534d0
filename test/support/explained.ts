import type { Queryable, Sql } from '../../src/platform/postgres/sql.ts';

/** A step of what the database did for a query. */
export type Plan = {
  readonly Plans?: readonly Plan[];
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  /** Of this step and all below it. */
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
};

/** Runs code of a store, and answers how the database carried out the first query of it that begins with `with`. */
export async function explained(
  sql: Sql,
  run: (sql: Queryable) => Promise<unknown>,
): Promise<Plan> {
  let plan: Plan | undefined;
  const explaining = (strings: TemplateStringsArray | string, ...values: never[]) => {
    const [first = '', ...rest] = strings;
    const isWhole = typeof strings !== 'string' && first.trimStart().startsWith('with');
    if (!isWhole || plan !== undefined) return sql(strings as TemplateStringsArray, ...values);
    const texts = [`explain (analyze, buffers, format json) ${first}`, ...rest];
    const asked = sql(Object.assign(texts, { raw: texts }), ...values);
    return asked.then((rows) => {
      plan = rows[0]?.['QUERY PLAN'][0].Plan;
      return rows;
    });
  };
  await run(explaining as unknown as Queryable);
  if (plan === undefined) throw new Error('no query was explained');
  return plan;
}
