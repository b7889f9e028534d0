import { mayRetryAfter, notConfigured, refusal } from '../refusal.ts';

const MINT_AGENT_KEY = {
  hint: 'Mint an agent key and send it as Authorization: Bearer <AGENT_KEY>',
  method: 'POST',
  path: '/v1/developer/agents/{agentId}/keys',
};

const RENEW_DELEGATION = {
  hint: 'Renew the delegation of the agent with a developer credential',
  method: 'POST',
  path: '/v1/developer/agents/{agentId}/renew-delegation',
};

export const credential = {
  missing: () =>
    refusal(
      401,
      'Missing or invalid Authorization header',
      'Send Authorization: Bearer <AGENT_KEY>.',
    ),
  /**
   * Refuses a header with another scheme than Bearer, or with nothing after the scheme. The specification has one code for the
   * two cases.
   */
  malformed: () =>
    refusal(
      401,
      'Missing or invalid Authorization header',
      'The Authorization header cannot be read; it must be Bearer <AGENT_KEY>.',
    ),
  unauthorized: (message = 'Send a developer key, a wallet signature or a session.') =>
    refusal(401, 'Unauthorized', message),
  invalidKey: () => refusal(401, 'Invalid API key', 'This key is unknown, revoked or expired.'),
  clientSecretExpired: () =>
    refusal(
      401,
      'client_secret_expired',
      'This client secret has expired; have your server make another one.',
      {
        next: {
          hint: 'Create a client secret',
          method: 'POST',
          path: '/v1/realtime/client_secrets',
        },
      },
    ),
  wrongType: () =>
    refusal(401, 'wrong_credential_type', 'This route takes an agent key.', {
      next: MINT_AGENT_KEY,
    }),
  developerRequired: () =>
    refusal(
      401,
      'developer_credential_required',
      'This route takes a developer credential, not an agent key.',
      {
        next: { hint: 'Create a developer key', method: 'POST', path: '/v1/developer/keys' },
      },
    ),
  invalidJwt: () =>
    refusal(401, 'Invalid JWT', 'The session is malformed, forged or older than 7 days.'),
  readOnly: () =>
    refusal(403, 'read_only_key', 'This key has read permission only; use one with read_write.'),
  agentSuspended: () =>
    refusal(403, 'agent_suspended', 'This agent is suspended by its developer or a policy.'),
  accountClosed: () => refusal(403, 'account_closed', 'This agent is closed.'),
  delegationExpired: () =>
    refusal(
      403,
      'delegation_expired',
      'The delegation of this agent has expired; ask its operator to renew it.',
      { next: RENEW_DELEGATION },
    ),
  agentNotReady: () => refusal(403, 'agent_not_active', 'This agent is still being provisioned.'),
};
