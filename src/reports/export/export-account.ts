import { type Clock, isoTime } from '../../kernel/clock.ts';
import { turnForLongWork } from '../../kernel/long-work.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import { REPORT_LIMITS } from '../limits.ts';
import { findOwnAgents } from '../own-agents-store.ts';
import type { RefusalReports } from '../refusals/refusal-reports.ts';
import { ACCOUNT_SECTIONS } from './account-sections.ts';
import { AGENT_SECTIONS } from './agent-sections.ts';
import { findPage, type Place, type Row } from './export-store.ts';
import type { Section } from './section.ts';

type Deps = {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly refusalReports: RefusalReports;
};

const { lifeMs, rowsPerQuery, rowsPerTurn } = REPORT_LIMITS.export;

/**
 * Yields everything that is kept of an account, one JSON object a line, without secrets. A page of rows is in memory at a time,
 * and the next is read when the client has taken the last. The last line has the type `end`; throws at the end of its time.
 */
export async function* exportAccount(deps: Deps, accountId: string): AsyncGenerator<Buffer> {
  const { clock, sql } = deps;
  const deadline = clock.monotonicMs() + lifeMs;
  let rows = 0;
  yield lineOf('export', { accountId, startedAt: isoTime(clock.now()) });
  for await (const { lines, count } of allLines(deps, accountId, sql)) {
    if (clock.monotonicMs() > deadline) throw new Error('an export took too long');
    rows += count;
    yield lines;
  }
  yield lineOf('end', { rows, endedAt: isoTime(clock.now()) });
}

type Lines = { readonly lines: Buffer; readonly count: number };

async function* allLines(deps: Deps, accountId: string, sql: Sql): AsyncGenerator<Lines> {
  for (const section of ACCOUNT_SECTIONS) yield* sectionLines(sql, section, accountId);
  for (const { id } of await findOwnAgents(sql, accountId)) {
    for (const section of AGENT_SECTIONS) yield* sectionLines(sql, section, id);
    yield* refusalLines(deps.refusalReports, id);
  }
}

async function* sectionLines(
  sql: Sql,
  section: Section,
  owner: number | string,
): AsyncGenerator<Lines> {
  let after: Place | undefined;
  do {
    const page = await findPage(sql, section, { owner, after, limit: rowsPerQuery });
    yield* written(section.type, page.rows);
    after = page.next;
  } while (after !== undefined);
}

async function* refusalLines(reports: RefusalReports, agentId: number): AsyncGenerator<Lines> {
  let before: bigint | undefined;
  for (;;) {
    const rows = await reports.rows({ agentIds: [agentId], before, limit: rowsPerQuery });
    yield* written('refusal', rows);
    if (rows.length < rowsPerQuery) return;
    before = rows.at(-1)?.id;
  }
}

/** Writes rows, a few in each turn of the event loop. */
async function* written(type: string, rows: readonly Row[]): AsyncGenerator<Lines> {
  for (let from = 0; from < rows.length; from += rowsPerTurn) {
    await turnForLongWork();
    const some = rows.slice(from, from + rowsPerTurn);
    yield {
      lines: Buffer.concat(some.map((row) => lineOf(type, row))),
      count: some.length,
    };
  }
}

const lineOf = (type: string, row: Row): Buffer =>
  Buffer.from(`${JSON.stringify(Object.assign({ type }, row), inDigits)}\n`);

/** Writes amounts as digits, as all routes do. */
const inDigits = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? value.toString() : value;
