import type { Clock } from '../kernel/clock.ts';
import type { Sql } from '../platform/postgres/sql.ts';
import { lastDays } from './account/report-window.ts';
import { reportErrors } from './errors.ts';
import { ownAgents } from './own-agents.ts';
import type { RefusalRow } from './refusals/refusal.ts';
import type { RefusalReports } from './refusals/refusal-reports.ts';

export type RefusedCalls = ReturnType<typeof createRefusedCalls>;

const CURSOR = /^r[1-9]\d{0,17}$/;

/** Creates the list of refused and failed calls of an account. */
export function createRefusedCalls(deps: {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly refusalReports: RefusalReports;
}) {
  return {
    /** Returns the counts of the last UTC days, and one page of rows, newest first. */
    async page(
      accountId: string,
      page: {
        readonly agentId?: number | undefined;
        readonly days: number;
        readonly cursor?: string | undefined;
        readonly limit: number;
      },
    ) {
      const { cursor, days, limit } = page;
      const before = cursor === undefined ? undefined : readCursor(cursor);
      const agents = await ownAgents(deps.sql, accountId, page.agentId);
      const agentIds = agents.map(({ id }) => id);
      const [counts, found] = await Promise.all([
        deps.refusalReports.counts({ agentIds, ...lastDays(deps.clock, days) }),
        deps.refusalReports.rows({ agentIds, before, limit: limit + 1 }),
      ]);
      const rows = found.slice(0, limit);
      const last = rows.at(-1);
      const hasMore = found.length > limit && last !== undefined;
      return {
        days,
        total: counts.total,
        byReason: counts.byReason,
        byDay: counts.byDay.map(({ count, day }) => ({ date: day, count })),
        refusals: rows.map(refusalRecord),
        nextCursor: hasMore ? cursorOf(last.id) : null,
        hasMore,
      };
    },
  };
}

const cursorOf = (id: bigint): string => Buffer.from(`r${id}`).toString('base64url');

function readCursor(text: string): bigint {
  const plain = Buffer.from(text, 'base64url').toString('latin1');
  const isOurs = CURSOR.test(plain) && cursorOf(BigInt(plain.slice(1))) === text;
  if (!isOurs) throw reportErrors.invalidCursor();
  return BigInt(plain.slice(1));
}

const refusalRecord = (row: RefusalRow) => ({
  id: String(row.id),
  agentId: row.agentId,
  at: row.at.toISOString(),
  reason: row.reason,
  requestId: row.requestId,
  policyId: row.policyId,
  host: row.host,
  requiredRaw: row.requiredRaw?.toString() ?? null,
  availableRaw: row.availableRaw?.toString() ?? null,
});
