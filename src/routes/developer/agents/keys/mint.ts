import { z } from 'zod';
import { agentKeyRecord } from '../../../../accounts/management/agent-key-record.ts';
import type { AgentKeys } from '../../../../accounts/management/agent-keys.ts';
import { created, route } from '../../../../http/route/route.ts';
import { AgentParams } from '../agent-shape.ts';
import { AgentKeyRecord, MintBody } from './agent-key-shape.ts';

/** Issues a runtime key of an agent. Without `permissions` it may read and spend. */
export const mintAgentKey = route<{ agentKeys: AgentKeys }>()({
  method: 'POST',
  path: '/v1/developer/agents/:agentId/keys',
  credential: 'management',
  summary: 'Mint an agent key; the secret is shown once',
  params: AgentParams,
  body: MintBody,
  status: 201,
  response: AgentKeyRecord.extend({ key: z.string() }),

  async handle({ caller, params, body, services }) {
    const { budgetRaw, windowSeconds, permissions, promptCaching } = body;
    const budget = budgetRaw == null ? undefined : { budgetRaw, windowSeconds };
    const wanted = { label: body.label ?? undefined, permissions, promptCaching, budget };
    const {
      record,
      secret,
      budget: view,
    } = await services.agentKeys.mint(caller, params.agentId, wanted);
    return created({ ...agentKeyRecord(record, view), key: secret });
  },
});
