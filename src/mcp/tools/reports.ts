import { z } from 'zod';
import { parseObject } from '../../kernel/json/parse-json.ts';
import type { Json } from '../../kernel/json.ts';
import { USAGE_WINDOWS } from '../../reports/account/account-reports.ts';
import { ACTIVITY_TYPES } from '../../reports/activity/activity-event.ts';
import { REPORT_LIMITS } from '../../reports/limits.ts';
import { ownActivity } from '../../routes/agents/activity.ts';
import { ownCoverage } from '../../routes/agents/coverage.ts';
import { ownReputation } from '../../routes/agents/reputation.ts';
import { ownUsageSummary } from '../../routes/agents/usage/summary.ts';
import { type AskTool, type Tool, tool } from '../tool.ts';
import { toolResult } from '../tool-result.ts';

const { activity, window } = REPORT_LIMITS;

/** Lists what moved the agent's money. */
const getActivity = tool({
  name: 'get_activity',
  title: 'Activity',
  description:
    'What moved money of this agent, newest first: calls, payments, money in and money out. Amounts are in units of 10^-6 USDC. Free.',
  isReadOnly: true,
  input: z.object({
    type: z.array(z.enum(ACTIVITY_TYPES)).min(1).optional().describe('only these kinds'),
    since: z.string().optional().describe('a day or a time, such as 2026-08-31T12:00:00Z'),
    until: z.string().optional().describe('a day or a time; it is not part of the list'),
    limit: z.number().int().min(1).max(activity.page.most).optional(),
    cursor: z.string().optional().describe('nextCursor of the page before'),
  }),

  call: ({ type, ...args }, ask) => read(ask, ownActivity, { ...args, type: type?.join(',') }),
});

/** Sums up the agent's calls. */
const getUsageSummary = tool({
  name: 'get_usage_summary',
  title: 'Usage',
  description:
    'How many calls this agent made in the last days, how many failed, how long they took, and how often a limit refused one. Free.',
  isReadOnly: true,
  input: z.object({ window: z.enum(USAGE_WINDOWS).optional() }),

  call: (args, ask) => read(ask, ownUsageSummary, args),
});

/** Tells how much of the agent's spend is under control. */
const getCoverageScore = tool({
  name: 'get_coverage_score',
  title: 'Coverage',
  description:
    'How much of the known spend of this agent a policy could have refused beforehand, and how much was reported afterwards. Free.',
  isReadOnly: true,
  input: z.object({ days: z.number().int().min(1).optional().describe(`up to ${window.most}`) }),

  call: (args, ask) => read(ask, ownCoverage, args),
});

/** Tells the agent's reputation. */
const getAgentReputation = tool({
  name: 'get_agent_reputation',
  title: 'Reputation',
  description:
    'The reputation of this agent: a score from 0 to 100 by its age, its charges, its outcomes and its suspensions. Free.',
  isReadOnly: true,
  input: z.object({}),

  call: (_args, ask) => read(ask, ownReputation, {}),
});

export const REPORT_TOOLS: readonly Tool[] = [
  getActivity,
  getUsageSummary,
  getCoverageScore,
  getAgentReputation,
];

async function read(ask: AskTool, route: Parameters<AskTool>[0], args: Json) {
  const query = Object.entries(args).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as const],
  );
  const { bytes } = await ask(route, { query: Object.fromEntries(query) });
  return toolResult(parseObject(bytes));
}
