import type { Admin } from '../../../accounts/management/admin.ts';
import { ok, route } from '../../../http/route/route.ts';
import { AdminBalance, AgentRef } from './admin-shape.ts';

/** Returns the balance of any agent, in the form that the agent itself gets. */
export const adminAgentBalance = route<{ admin: Admin }>()({
  method: 'GET',
  path: '/v1/admin/agents/:agentId/balance',
  credential: 'admin',
  summary: "An agent's balance",
  params: AgentRef,
  response: AdminBalance,

  async handle({ params, services }) {
    return ok(await services.admin.balance(params.agentId));
  },
});
