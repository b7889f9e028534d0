import { MAX_RAW } from '../kernel/amount.ts';
import { MAY_RETRY, mayRetryAfter, NO_RETRY, notConfigured, refusal } from '../kernel/refusal.ts';
import type { Role } from './developers/role.ts';

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

export const credentialErrors = {
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
  sessionTooLarge: () =>
    refusal(
      400,
      'invalid_request',
      'This session is too large to travel in a client secret; have the client send the rest of it as session.update.',
      { param: 'session' },
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
  /** Refuses a member whose role may not do what the route does. */
  forbidden: (role: Role, least: Role) =>
    refusal(
      403,
      'Forbidden',
      `Your role in this account is ${role}; this takes the role ${least} or a stronger one. Ask an owner or admin of the account.`,
      { role, requiredRole: least },
    ),
  foreignAccount: () =>
    refusal(
      403,
      'Forbidden',
      'X-Svc-Account or the cookie svc_account names an account that this credential does not act for; leave it out for your own account.',
    ),
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

export const agentErrors = {
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

export const keyErrors = {
  invalidExpiry: () => refusal(400, 'Invalid request body', 'expiresAt must lie in the future.'),
  notFound: () => refusal(404, 'Key not found', 'API key not found or already revoked'),
  limitExceeded: (max: number) => refusal(400, 'Limit exceeded', `Maximum ${max} API keys allowed`),
};

export const teamErrors = {
  memberNotFound: (wallet: string) =>
    refusal(404, 'member_not_found', `The wallet ${wallet} is no member of this account.`),
  lastOwner: () =>
    refusal(
      409,
      'last_owner',
      'The wallet that this account belongs to stays its owner; it cannot leave or take another role.',
      {},
      NO_RETRY,
    ),
  ownersOnly: () => refusal(403, 'Forbidden', 'Only an owner may make, change or remove an owner.'),
  selfInvited: () => refusal(400, 'self_invite', 'This is your own address; invite somebody else.'),
  alreadyMember: (who: string) =>
    refusal(
      409,
      'already_member',
      `${who} is a member of this account already; no invite is needed.`,
      {},
      NO_RETRY,
    ),
  alreadyInvited: () =>
    refusal(
      409,
      'already_invited',
      'This address has an open invite to this account; send that one again or delete it.',
      {},
      NO_RETRY,
    ),
  seatsFull: (max: number) =>
    refusal(
      409,
      'seats_full',
      `An account has ${max} seats, and members and open invites take all of them. An owner or admin frees one by ending a membership or an invite.`,
      { max },
      NO_RETRY,
    ),
  tooManyInvites: (max: number, scope: string) =>
    refusal(
      429,
      'invite_limit',
      `At most ${max} invites ${scope} are sent in 24 hours; try again later.`,
      { max },
      mayRetryAfter(3_600),
    ),
  inviteNotFound: () => refusal(404, 'invite_not_found', 'This account has no such open invite.'),
  inviteUnknown: () =>
    refusal(
      404,
      'invite_not_found',
      'No invite has this token; ask for the invite to be sent again.',
    ),
  inviteGone: (reason: string) =>
    refusal(410, 'invite_gone', `This invite ${reason}; ask for another one.`),
  walletRequired: () =>
    refusal(
      403,
      'wallet_required',
      'An invite is accepted by a wallet: send a wallet signature or a session, not a developer key.',
    ),
};

export const providerKeyErrors = {
  /** Refuses a header that holds no key. `rule` says how a key looks. */
  invalidHeader: (header: string, rule: string) =>
    refusal(400, 'invalid_request', `${header} ${rule}.`, { param: header }),
  notFound: (provider: string) =>
    refusal(404, 'not_found', `No key is stored for the provider "${provider}".`),
  /** Refuses an unknown provider name. The text does not repeat the name, which may be the key in the wrong place. */
  unknownProvider: (supportedProviders: readonly string[]) =>
    refusal(
      400,
      'unknown_provider',
      `Keys can be stored for these providers: ${supportedProviders.join(', ')}.`,
      { supportedProviders },
    ),
  unavailable: () =>
    notConfigured(
      'provider_keys_unavailable',
      'This server cannot seal provider keys.',
      'PROVIDER_KEY_SECRET',
    ),
};

export const adminErrors = {
  unauthorized: (how: 'missing' | 'wrong') =>
    refusal(401, 'Unauthorized', `The admin key is ${how}; send it as X-Admin-Key.`),
  invalidJson: () => refusal(400, 'Invalid JSON body', 'The body is not valid JSON.'),
  invalidAddress: () =>
    refusal(400, 'Invalid address', 'Name an agent by its number or its 0x wallet address.'),
  notFound: (what = 'There is no such agent.') => refusal(404, 'Not found', what),
  creditTooLarge: (amountRaw: string) =>
    refusal(
      400,
      'credit_too_large',
      `A credit of ${amountRaw} would bring all credits of this agent above ${MAX_RAW}. Credit less, or another agent.`,
    ),
  referenceConflict: () =>
    refusal(
      409,
      'reference_conflict',
      'This reference was used for another amount or agent.',
      {},
      NO_RETRY,
    ),
};
