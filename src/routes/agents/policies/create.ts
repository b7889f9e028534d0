import { created, route } from '../../../http/route/route.ts';
import type { Policies } from '../../../spend/policies/policies.ts';
import { OnePolicy, ownScope, PolicyBody } from '../../policy-shape.ts';

/** Creates a cap. Money that was spent or held in its window before counts under it at once. */
export const createOwnPolicy = route<{ policies: Policies }>()({
  method: 'POST',
  path: '/v1/agents/policies',
  credential: 'agent',
  rateLimit: 'control',
  summary: "Create one of the calling agent's policies",
  body: PolicyBody,
  status: 201,
  response: OnePolicy,

  async handle({ caller, body, services }) {
    return created({ policy: await services.policies.create(ownScope(caller), body) });
  },
});
