import { created, route } from '../../../http/route/route.ts';
import type { Policies } from '../../../spend/policies/policies.ts';
import { OnePolicy, TeamPolicyBody, teamScope } from '../../policy-shape.ts';

/** Creates a cap. Money that was spent or held in its window before counts under it at once. */
export const createTeamPolicy = route<{ policies: Policies }>()({
  method: 'POST',
  path: '/v1/developer/policies',
  credential: 'management',
  summary: "Create one of a team's policies",
  body: TeamPolicyBody,
  status: 201,
  response: OnePolicy,

  async handle({ caller, body, services }) {
    return created({ policy: await services.policies.create(teamScope(caller), body) });
  },
});
