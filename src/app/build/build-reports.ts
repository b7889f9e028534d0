import { createAuditTrail } from '../../accounts/audit/admin-acts.ts';
import { startWorkers } from '../../kernel/schedule.ts';
import type { Teardown } from '../../kernel/teardown.ts';
import { DEFAULT_RATE_LIMITS } from '../../rate-limit/rate-gate.ts';
import type { RateReader } from '../../rate-limit/rate-limit.ts';
import { createAccountReports } from '../../reports/account/account-reports.ts';
import { createActivity } from '../../reports/activity/activity.ts';
import { createCallerLimits } from '../../reports/caller-limits/caller-limits.ts';
import { createExports } from '../../reports/export/exports.ts';
import { createOperatorReports } from '../../reports/operator/operator-reports.ts';
import { createRefusalLog, refusalKey } from '../../reports/refusals/refusal-log.ts';
import { createRefusalReports, refusalWorkers } from '../../reports/refusals/refusal-reports.ts';
import { saveRefusals } from '../../reports/refusals/refusal-store.ts';
import { createRefusedCalls } from '../../reports/refused-calls.ts';
import { createReputations } from '../../reports/reputation/reputation.ts';
import { rollUpReports } from '../../reports/roll-up.ts';
import { createSearch } from '../../reports/search/search.ts';
import { createSpendReports } from '../../reports/spend-reports.ts';
import { createToolCalls } from '../../reports/tool-calls.ts';
import type { World } from './world.ts';

/** Builds the reports, the sums that they are made of and the record of refusals, and starts the workers behind them. */
export function buildReports(
  world: World,
  { rateLimiter }: { readonly rateLimiter: RateReader },
  teardown: Teardown,
) {
  const { clock, log, settings, sql } = world;
  const refusals = createRefusalLog({
    clock,
    log,
    save: async (batch) =>
      (await saveRefusals(sql, batch)).map(({ agentId, day }) => refusalKey(agentId, day)),
  });
  teardown.defer('refusals', refusals.flush);
  teardown.use(
    'report workers',
    startWorkers(world, [rollUpReports({ sql }), ...refusalWorkers({ sql, log: refusals })]),
  );
  const sums = {
    refusalReports: createRefusalReports({ sql }),
    spendReports: createSpendReports({ sql }),
  };
  const deps = { ...world, ...sums };
  const { agentProxyPerMinute } = settings;
  return {
    ...sums,
    refusals,
    reports: createAccountReports(deps),
    activity: createActivity(world),
    exports: createExports(deps),
    reputations: createReputations(deps),
    refusedCalls: createRefusedCalls(deps),
    operatorReports: createOperatorReports(world),
    auditTrail: createAuditTrail(world),
    search: createSearch(world),
    toolCalls: createToolCalls(world),
    callerLimits: createCallerLimits({
      ...world,
      rates: rateLimiter,
      rateLimits: { ...DEFAULT_RATE_LIMITS, agentProxyPerMinute },
      usualCalls: settings.phone.concurrentCalls,
    }),
  };
}
