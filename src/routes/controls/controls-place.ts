import type { ZodType } from 'zod';
import type { Credential } from '../../http/route/caller.ts';
import type { Context } from '../../http/route/route.ts';
import type { AgentScope, ControlsScope } from '../../spend/policies/change-controls.ts';
import { AgentParams } from '../developer/agents/agent-shape.ts';
import { agentScope, ownScope } from '../policy-shape.ts';

/** Caller and path parameters of a request, by which a place finds the scope. */
export type Where<C extends Credential, P extends ZodType | undefined> = Pick<
  Context<unknown, C, P, undefined, undefined>,
  'caller' | 'params'
>;

/** Place of a family of routes for spend controls: where the routes are served, and whose controls they read and change. */
export type ControlsPlace<
  C extends Credential,
  P extends ZodType | undefined,
  S extends ControlsScope = AgentScope,
> = {
  readonly base: `/${string}`;
  readonly credential: C;
  readonly params: P;
  /** Rate limit and right of the routes that change something. */
  readonly changes: { readonly rateLimit?: 'control'; readonly right?: 'account' };
  /** Owner of the controls in the API description. */
  readonly whose: string;
  readonly scopeOf: (where: Where<C, P>) => S;
};

/** The controls of the calling agent. */
export const OWN_CONTROLS: ControlsPlace<'agent', undefined> = {
  base: '/v1/agents',
  credential: 'agent',
  params: undefined,
  changes: { rateLimit: 'control' },
  whose: "the calling agent's",
  scopeOf: ({ caller }) => ownScope(caller),
};

/** The controls of one agent of the calling developer. */
export const AGENT_CONTROLS: ControlsPlace<'management', typeof AgentParams> = {
  base: '/v1/developer/agents/:agentId',
  credential: 'management',
  params: AgentParams,
  changes: {},
  whose: "an agent's",
  scopeOf: ({ caller, params }) => agentScope(caller, params),
};
