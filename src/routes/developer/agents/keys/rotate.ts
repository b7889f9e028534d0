import { z } from 'zod';
import { agentKeyRecord } from '../../../../accounts/management/agent-key-record.ts';
import type { AgentKeys } from '../../../../accounts/management/agent-keys.ts';
import { created, route } from '../../../../http/route/route.ts';
import { keyRequest } from '../../keys/key-shape.ts';
import { AgentKeyParams, AgentKeyRecord, PromptCaching } from './agent-key-shape.ts';

/** Replaces an agent key by a new key in one step. Absent members are copied from the old key. */
export const rotateAgentKey = route<{ agentKeys: AgentKeys }>()({
  method: 'POST',
  path: '/v1/developer/agents/:agentId/keys/:keyId/rotate',
  credential: 'management',
  summary: 'Revoke an agent key and mint its successor atomically',
  params: AgentKeyParams,
  body: z.object({ label: keyRequest.label, promptCaching: PromptCaching }),
  status: 201,
  response: AgentKeyRecord.extend({ key: z.string() }),

  async handle({ caller, params, body, services }) {
    const { record, secret, budget } = await services.agentKeys.rotate(
      caller,
      params.agentId,
      params.keyId,
      { label: body.label ?? undefined, promptCaching: body.promptCaching },
    );
    return created({ ...agentKeyRecord(record, budget), key: secret });
  },
});
