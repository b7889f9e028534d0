import { z } from 'zod';
import { agentKeyRecord } from '../../../../accounts/management/agent-key-record.ts';
import type { AgentKeys } from '../../../../accounts/management/agent-keys.ts';
import { ok, route } from '../../../../http/route/route.ts';
import { AgentParams } from '../agent-shape.ts';
import { AgentKeyRecord } from './agent-key-shape.ts';

/** Lists the working keys of an agent, with the prefix of each secret only. */
export const listAgentKeys = route<{ agentKeys: AgentKeys }>()({
  method: 'GET',
  path: '/v1/developer/agents/:agentId/keys',
  credential: 'management',
  summary: 'List agent keys, prefixes only',
  params: AgentParams,
  response: z.object({ keys: z.array(AgentKeyRecord) }),

  async handle({ caller, params, services }) {
    const keys = await services.agentKeys.list(caller, params.agentId);
    return ok({ keys: keys.map((key) => agentKeyRecord(key, key.budget)) });
  },
});
