import { type Clock, isoTime } from '../../kernel/clock.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import { COUNTED_SOURCES, lastDays } from '../account/report-window.ts';
import { reportErrors } from '../errors.ts';
import { REPORT_LIMITS } from '../limits.ts';
import { ownAgents } from '../own-agents.ts';
import type { RefusalReports } from '../refusals/refusal-reports.ts';
import type { SpendReports } from '../spend-reports.ts';
import { findReputationFacts } from './reputation-store.ts';
import { scoreOf } from './score.ts';

export type Reputations = ReturnType<typeof createReputations>;

const DAY_MS = 86_400_000;
const RECENT_DAYS = 30;

/** Creates the reputations of agents: a score from facts of this server alone. No decision of this server depends on it. */
export function createReputations(deps: {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly spendReports: SpendReports;
  readonly refusalReports: RefusalReports;
}) {
  const { clock, sql } = deps;
  return {
    /** Computes the reputation of an agent of the account. Throws 404 before its 20th charge. */
    async read(accountId: string, agentId: number) {
      await ownAgents(sql, accountId, agentId);
      const known = await findReputationFacts(sql, agentId);
      const charges = known?.charges ?? 0;
      const least = REPORT_LIMITS.reputation.leastCharges;
      if (known === undefined || charges < least) {
        throw reportErrors.noReputationYet(charges, least);
      }
      const window = { agentIds: [agentId], ...lastDays(clock, RECENT_DAYS) };
      const [recent, refused] = await Promise.all([
        deps.spendReports.totals({ ...window, sources: COUNTED_SOURCES, groupBy: 'source' }),
        deps.refusalReports.counts(window),
      ]);
      const nowMs = clock.now();
      const score = scoreOf({
        ...known,
        ageDays: Math.max(0, (nowMs - known.createdAt.getTime()) / DAY_MS),
        recentCharges: recent.total.calls,
        shortfalls:
          refused.byReason.find(({ reason }) => reason === 'insufficient_balance')?.count ?? 0,
      });
      return { ...score, computedAt: isoTime(nowMs) };
    },
  };
}
