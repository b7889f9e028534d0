import type { Admin } from '../../../accounts/management/admin.ts';
import { ok, route } from '../../../http/route/route.ts';
import { ClosedAgent } from '../../developer/agents/agent-shape.ts';
import { AgentRef } from './admin-shape.ts';

/** Closes any account's agent for good. */
export const adminCloseAgent = route<{ admin: Admin }>()({
  method: 'POST',
  path: '/v1/admin/agents/:agentId/close',
  credential: 'admin',
  summary: 'Close an agent',
  params: AgentRef,
  response: ClosedAgent,

  async handle({ clientAddress, params, requestId, services }) {
    return ok(await services.admin.close(params.agentId, { clientAddress, requestId }));
  },
});
