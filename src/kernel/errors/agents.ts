import { MAY_RETRY, NO_RETRY, notConfigured, refusal } from '../refusal.ts';

export const agents = {
  notFound: () => refusal(404, 'not_found', 'There is no such agent.'),
  limitExceeded: (max: number, what: string) =>
    refusal(409, 'limit_exceeded', `At most ${max} ${what}.`, { max }, NO_RETRY),
  notProvisioned: () =>
    refusal(
      409,
      'agent_not_provisioned',
      'This agent has no wallet yet; it is made shortly.',
      {},
      MAY_RETRY,
    ),
  nameConflict: (name: string) =>
    refusal(409, 'name_conflict', `An agent named "${name}" exists already.`, {}, NO_RETRY),
  invalidStatusTransition: (from: string, to: string) =>
    refusal(
      409,
      'invalid_status_transition',
      `An agent that is ${from} cannot become ${to}.`,
      {},
      NO_RETRY,
    ),
  statusConflict: () =>
    refusal(
      409,
      'status_conflict',
      'The status was changed by another request; read it again.',
      {},
      NO_RETRY,
    ),
  provisioningFailed: (agentId: number) =>
    refusal(
      502,
      'managed_provisioning_failed',
      'The wallet could not be created; the agent is kept for a retry.',
      { agentId },
      NO_RETRY,
    ),
  delegationFailed: (agentId: number) =>
    refusal(
      502,
      'delegation_failed',
      'The delegation could not be made; the agent is kept for a retry.',
      { agentId },
      NO_RETRY,
    ),
  renewalFailed: (agentId: number) =>
    refusal(
      502,
      'delegation_failed',
      'The delegation could not be renewed and ends when it did before; try again.',
      { agentId },
      NO_RETRY,
    ),
  featuresUnavailable: () =>
    notConfigured(
      'agent_features_unavailable',
      'This server keeps no wallets for agents.',
      'MANAGED_WALLET_APP_ID, MANAGED_WALLET_APP_SECRET and MANAGED_WALLET_AUTHORIZATION_PRIVATE_KEY, ' +
        'and MANAGED_WALLET_BASE_URL where the app id is not local',
    ),
  creationUnavailable: () =>
    notConfigured(
      'agent_creation_unavailable',
      'This server cannot delegate for agents.',
      'FACILITATOR_PRIVATE_KEY',
    ),
  winddownUnavailable: () =>
    refusal(
      503,
      'winddown_unavailable',
      'Loans are active and no wind-down service is configured.',
      {},
      NO_RETRY,
    ),
  winddownFailed: (message: string) => refusal(500, 'winddown_failed', message, {}, NO_RETRY),
};
