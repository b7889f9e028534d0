import { z } from 'zod';
import { adminErrors } from '../../../accounts/errors.ts';
import type { Admin } from '../../../accounts/management/admin.ts';
import { ok, route } from '../../../http/route/route.ts';
import { AgentRef } from './admin-shape.ts';

/** Suspends or resumes any account's agent. */
export const adminSetAgentStatus = route<{ admin: Admin }>()({
  method: 'PATCH',
  path: '/v1/admin/agents/:agentId',
  credential: 'admin',
  summary: 'Suspend or resume an agent',
  params: AgentRef,
  body: z.object({ status: z.enum(['active', 'suspended']) }),
  badJson: adminErrors.invalidJson,
  response: z.object({ id: z.number(), status: z.string() }),

  async handle({ body, clientAddress, params, requestId, services }) {
    const by = { clientAddress, requestId };
    return ok(await services.admin.setStatus(params.agentId, body.status, by));
  },
});
