import type { ZodType } from 'zod';
import type { Credential } from '../../http/route/caller.ts';
import { created, ok, route } from '../../http/route/route.ts';
import type { ControlsScope } from '../../spend/policies/change-controls.ts';
import type { Policies } from '../../spend/policies/policies.ts';
import type { PolicyRequest } from '../../spend/policies/policy-request.ts';
import {
  AgentPolicyParams,
  ManyPolicies,
  OnePolicy,
  ownScope,
  PolicyBody,
  PolicyEditBody,
  PolicyParams,
  PolicyQuery,
  RevokedPolicy,
  TeamPolicyBody,
  teamScope,
} from '../policy-shape.ts';
import { AGENT_CONTROLS, type ControlsPlace, OWN_CONTROLS, type Where } from './controls-place.ts';

type Services = { policies: Policies };

/** Place of the routes for policies: in addition the shape of one policy's address and of a new policy. */
type PoliciesPlace<
  C extends Credential,
  P extends ZodType | undefined,
  I extends ZodType | undefined,
> = ControlsPlace<C, P, ControlsScope> & {
  readonly policyParams: I;
  readonly policyBody: ZodType<PolicyRequest>;
  readonly policyOf: (where: Where<C, I>) => readonly [scope: ControlsScope, policyId: number];
};

const OWN: PoliciesPlace<'agent', undefined, typeof PolicyParams> = {
  ...OWN_CONTROLS,
  policyParams: PolicyParams,
  policyBody: PolicyBody,
  policyOf: ({ caller, params }) => [ownScope(caller), params.policyId],
};

const AGENT: PoliciesPlace<'management', typeof AGENT_CONTROLS.params, typeof AgentPolicyParams> = {
  ...AGENT_CONTROLS,
  policyParams: AgentPolicyParams,
  policyBody: PolicyBody,
  policyOf: (where) => [AGENT_CONTROLS.scopeOf(where), where.params.policyId],
};

/** Policies over all agents of the calling developer together. */
const TEAM: PoliciesPlace<'management', undefined, typeof PolicyParams> = {
  base: '/v1/developer',
  credential: 'management',
  params: undefined,
  changes: { right: 'account' },
  whose: "a team's",
  scopeOf: ({ caller }) => teamScope(caller),
  policyParams: PolicyParams,
  policyBody: TeamPolicyBody,
  policyOf: ({ caller, params }) => [teamScope(caller), params.policyId],
};

/** Routes for the policies of one scope. */
function policyRoutes<
  C extends Credential,
  P extends ZodType | undefined,
  I extends ZodType | undefined,
>({
  base,
  changes,
  credential,
  params: shape,
  policyBody,
  policyOf,
  policyParams,
  scopeOf,
  whose,
}: PoliciesPlace<C, P, I>) {
  const all = { path: `${base}/policies`, credential, params: shape } as const;
  const one = {
    path: `${base}/policies/:policyId`,
    credential,
    params: policyParams,
    ...changes,
  } as const;
  return {
    /** Lists policies by id: the active policies and, if requested, the latest policies that are over. */
    list: route<Services>()({
      ...all,
      method: 'GET',
      summary: `List ${whose} policies`,
      query: PolicyQuery,
      response: ManyPolicies,
      async handle({ caller, params, query, services }) {
        const includePast = query.includeRevoked;
        const scope = scopeOf({ caller, params });
        return ok({ policies: await services.policies.list(scope, { includePast }) });
      },
    }),

    /** Creates a cap. Money that was spent or held in its window before counts under it at once. */
    create: route<Services>()({
      ...all,
      ...changes,
      method: 'POST',
      summary: `Create one of ${whose} policies`,
      body: policyBody,
      status: 201,
      response: OnePolicy,
      async handle({ caller, params, body, services }) {
        const scope = scopeOf({ caller, params });
        return created({ policy: await services.policies.create(scope, body) });
      },
    }),

    /** Changes the limits of a policy. Absent members keep their values. */
    change: route<Services>()({
      ...one,
      method: 'PATCH',
      summary: `Change one of ${whose} policies`,
      body: PolicyEditBody,
      response: OnePolicy,
      async handle({ caller, params, body, services }) {
        const [scope, policyId] = policyOf({ caller, params });
        return ok({ policy: await services.policies.change(scope, policyId, body) });
      },
    }),

    /** Revokes a policy for good. From the next call on it refuses nothing. */
    revoke: route<Services>()({
      ...one,
      method: 'DELETE',
      summary: `Revoke one of ${whose} policies`,
      response: RevokedPolicy,
      async handle({ caller, params, services }) {
        return ok(await services.policies.revoke(...policyOf({ caller, params })));
      },
    }),

    /** Restarts the window of a rolling policy: earlier spending no longer counts. No route for policies of a team is served. */
    reset: route<Services>()({
      ...one,
      path: `${base}/policies/:policyId/reset`,
      method: 'POST',
      summary: `Reset one of ${whose} rolling policies`,
      response: OnePolicy,
      async handle({ caller, params, services }) {
        return ok({ policy: await services.policies.reset(...policyOf({ caller, params })) });
      },
    }),
  };
}

export const ownPolicies = policyRoutes(OWN);
export const agentPolicies = policyRoutes(AGENT);
export const teamPolicies = policyRoutes(TEAM);
