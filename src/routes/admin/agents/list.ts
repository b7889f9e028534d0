import { z } from 'zod';
import { ACCOUNT_LIMITS } from '../../../accounts/limits.ts';
import type { Admin } from '../../../accounts/management/admin.ts';
import { ok, route } from '../../../http/route/route.ts';

const digits = z.string().regex(/^\d{1,9}$/, 'must be digits only');

const AgentOverview = z.object({
  id: z.string(),
  agentId: z.number(),
  name: z.string(),
  accountId: z.string(),
  managedWalletAddress: z.string().nullable(),
  status: z.string(),
  balance: z.string(),
  creditLimit: z.string().nullable(),
  creditUsed: z.string(),
  activeLoanCount: z.number(),
  delegationActive: z.boolean(),
  createdAt: z.string(),
});

/** Lists the agents of all accounts by id, in pages. Without `limit` a page has `ACCOUNT_LIMITS.agent.page` agents. */
export const adminListAgents = route<{ admin: Admin }>()({
  method: 'GET',
  path: '/v1/admin/agents',
  credential: 'admin',
  summary: 'List the agents of all accounts',
  query: z.object({
    cursor: digits.default('0').transform(Number),
    limit: digits
      .default(String(ACCOUNT_LIMITS.agent.page))
      .transform((text) => Math.max(1, Number(text))),
  }),
  response: z.object({ agents: z.array(AgentOverview), nextCursor: z.number().nullable() }),

  async handle({ query, services }) {
    return ok(await services.admin.list(query));
  },
});
