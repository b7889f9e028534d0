import { type DatabaseTarget, openSql } from '../../src/platform/postgres/sql.ts';
import { rollUp } from '../../src/reports/roll-up-store.ts';

/** Rolls up a few rows of the agents at a time, for ever: a parent kills it in the middle. */
const [, , target = '', agentIds = '[]'] = process.argv;
const sql = openSql(JSON.parse(target) as DatabaseTarget, 1);
const ids = JSON.parse(agentIds) as number[];

process.on('disconnect', () => process.exit(0));
process.send?.({ kind: 'ready' });
for (;;) await rollUp(sql, ids, 2);
