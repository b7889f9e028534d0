import { z } from 'zod';
import type { AgentKeys } from '../../../../accounts/management/agent-keys.ts';
import { ok, route } from '../../../../http/route/route.ts';
import { AgentKeyParams } from './agent-key-shape.ts';

/** Revokes an agent key at once: its next call is refused and its open sockets close. */
export const revokeAgentKey = route<{ agentKeys: AgentKeys }>()({
  method: 'DELETE',
  path: '/v1/developer/agents/:agentId/keys/:keyId',
  credential: 'management',
  summary: 'Revoke an agent key',
  params: AgentKeyParams,
  response: z.object({ message: z.string(), revoked: z.literal(true), keyId: z.number() }),

  async handle({ caller, params, services }) {
    await services.agentKeys.revoke(caller, params.agentId, params.keyId);
    return ok({ message: 'API key revoked', revoked: true, keyId: params.keyId });
  },
});
