import type { Right } from '../../accounts/developers/role.ts';
import { adminErrors, credentialErrors } from '../../accounts/errors.ts';
import type { ClientSecretUse } from '../../accounts/keys/client-secrets.ts';
import { type Clock, nowSeconds } from '../../kernel/clock.ts';
import type { SignInNetworks } from '../../rate-limit/sign-in-networks.ts';
import {
  type AgentCaller,
  type Caller,
  CarrierCaller,
  type Credential,
  type DeveloperCaller,
  type Permission,
} from '../route/caller.ts';
import { networkOf } from '../route/client-address.ts';
import { requestErrors } from '../route/errors.ts';
import type { GatedRequest, StrangerGate } from '../server/stranger-gate.ts';
import { admitDeveloper, requirePermission } from './admit-developer.ts';
import { AgentRefused } from './agent-refused.ts';
import type { Credentials } from './credentials.ts';
import {
  bearerToken,
  type Presented,
  presentedCredential,
  shownOf,
} from './presented-credential.ts';
import { sessionCookie } from './session-cookie.ts';

/** Demands of a route on its caller. */
export type Demand = {
  readonly credential: Credential;
  readonly permission: Permission;
  /** Right that the role of a developer must have. Absent for routes that only agents ask. */
  readonly right?: Right;
  readonly admitsClosed: boolean;
  /** True for the probes of load balancers, which come many times a minute: they are never refused for their rate. */
  readonly isProbe?: boolean;
  /** True when an agent is admitted although its delegation has ended. */
  readonly admitsExpired?: boolean;
  /** Use of the client secrets that are accepted in place of the agent's key. */
  readonly admitsClientSecrets?: ClientSecretUse | undefined;
  /** True when `Authorization: Token` is accepted like `Bearer`. */
  readonly acceptsTokenScheme?: boolean;
  /** Header that may carry the key in place of `Authorization`. */
  readonly keyHeader?: string | undefined;
};

export type Authenticated = {
  readonly caller: Caller;
  /** `Set-Cookie` value with a renewed session token, for a session past half of its life. */
  readonly setCookie?: string;
};

/** Parts of a request that the credential step reads. */
export type Asking = GatedRequest & {
  readonly request: { readonly method: string; readonly headers: ReadonlyMap<string, string> };
};

export type Authenticate = (
  demand: Demand,
  asking: Asking,
) => Authenticated | Promise<Authenticated>;

type Deps = {
  readonly credentials: Credentials;
  readonly strangers: StrangerGate;
  readonly signIns: SignInNetworks;
  readonly clock: Clock;
  /** True when session cookies carry `Secure`. */
  readonly secureCookies: boolean;
  /** Origin, beside the request's own host, from which requests with a cookie may write. */
  readonly publicUrl?: string | undefined;
};

const ANONYMOUS: Authenticated = { caller: { kind: 'none' } };
/** Refusal text for a caller without a credential on a route that admits both agents and developers. */
const ANY = 'Send Authorization: Bearer with an agent key or a developer key.';
const READING = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Builds the credential step, which identifies the caller and checks that the route admits the caller. Throws refusals. A
 * credential that memory cannot decide passes the gate for strangers before it costs anything.
 */
export function createAuthenticate(deps: Deps): Authenticate {
  const { credentials, signIns, strangers } = deps;
  const admitAgent = createAdmitAgent(deps);

  const developer = async (
    presented: Presented,
    request: Asking['request'],
    sentence: string | undefined,
  ): Promise<Authenticated> => {
    switch (presented.kind) {
      case 'developer_key': {
        const caller = await credentials.developerKey(presented.key);
        if (caller === undefined) throw credentialErrors.invalidKey();
        return { caller };
      }
      case 'signature':
        return { caller: await checkSignature(credentials, presented) };
      case 'session': {
        if (isForeignKey(presented)) throw credentialErrors.invalidKey();
        if (presented.via === 'cookie') checkSameOrigin(request, deps.publicUrl);
        const { caller, renewedToken } = await credentials.session(presented.token);
        if (renewedToken === undefined || presented.via === 'bearer') return { caller };
        return {
          caller,
          setCookie: sessionCookie(renewedToken, { secure: deps.secureCookies }),
        };
      }
      case 'agent_key':
      case 'client_secret':
        throw credentialErrors.developerRequired();
      case 'malformed':
      case 'nothing':
        throw credentialErrors.unauthorized(sentence);
    }
  };

  return (demand, asking) => {
    const { request } = asking;
    if (demand.credential === 'none') {
      if (demand.isProbe !== true) strangers.admitAnonymous(asking);
      return ANONYMOUS;
    }
    if (demand.credential === 'admin') return operator(deps, 'admin', asking);
    if (demand.credential === 'metrics') return operator(deps, 'metrics', asking);
    if (demand.credential === 'carrier') return { caller: new CarrierCaller() };
    if (demand.credential === 'platform') return platform(deps, asking);

    const presented = presentedCredential(request.headers, demand);
    if (demand.credential === 'agent' || presented.kind === 'agent_key') {
      if (demand.credential === 'agent' || demand.credential === 'any') {
        return admitAgent(demand, presented, asking);
      }
    }
    if (demand.credential === 'signature' && presented.kind !== 'signature') {
      strangers.countFailure(asking);
      throw credentialErrors.unauthorized();
    }
    return strangers.attempt(asking, shownOf(presented), async () => {
      const network = networkOf(asking.clientAddress());
      const sentence = demand.credential === 'any' ? ANY : undefined;
      const found = await developer(presented, request, sentence);
      const own = found.caller as DeveloperCaller;
      if (own.via !== 'developer_key') signIns.note(own.accountId, network);
      return { ...found, caller: await admitDeveloper(credentials, demand, own, request.headers) };
    });
  };
}

/** Admits an agent that is known by its key or otherwise. Throws the refusal by its status, delegation and permission. */
export function admitKnown(
  demand: Demand,
  caller: AgentCaller | undefined,
  nowSec: number,
): { caller: AgentCaller } {
  if (caller === undefined) throw credentialErrors.invalidKey();
  if (caller.status === 'closed' && demand.admitsClosed) return { caller };
  const refusal = refusalOfState(demand, caller, nowSec);
  if (refusal !== undefined) throw new AgentRefused(caller.agentId, refusal);
  requirePermission(demand, caller);
  return { caller };
}

/** Returns the refusal of an agent by its status or its delegation. */
function refusalOfState(demand: Demand, caller: AgentCaller, nowSec: number) {
  if (caller.status === 'closed') return credentialErrors.accountClosed();
  if (caller.status === 'suspended') return credentialErrors.agentSuspended();
  if (caller.status === 'pending_delegation') return credentialErrors.agentNotReady();
  const isExpired = !demand.admitsExpired && hasExpired(caller, nowSec);
  return isExpired ? credentialErrors.delegationExpired() : undefined;
}

/** Builds the admission of agents, which sockets use too: a key seen lately is admitted without waiting. */
export function createAdmitAgent({
  credentials,
  clock,
  strangers,
}: Pick<Deps, 'credentials' | 'clock' | 'strangers'>) {
  const admit = (demand: Demand, caller: AgentCaller | undefined) =>
    admitKnown(demand, caller, nowSeconds(clock));

  return (
    demand: Demand,
    presented: Presented,
    asked: GatedRequest,
  ): { caller: AgentCaller } | Promise<{ caller: AgentCaller }> => {
    if (presented.kind === 'agent_key') {
      const { key } = presented;
      const remembered = credentials.rememberedAgent(key);
      if (remembered !== undefined) return admit(demand, remembered);
      return strangers.attempt(asked, key, async () =>
        admit(demand, await credentials.agentKey(key)),
      );
    }
    if (presented.kind === 'client_secret' && demand.admitsClientSecrets !== undefined) {
      const { secret } = presented;
      return strangers.attempt(asked, secret, async () => {
        const caller = await credentials.clientSecret(secret);
        const use = caller?.clientSecret?.use;
        if (use !== undefined && use !== demand.admitsClientSecrets) throw notAnAgentKey(presented);
        return admit(demand, caller);
      });
    }
    strangers.countFailure(asked);
    throw notAnAgentKey(presented);
  };
}

const hasExpired = ({ operatorExpiry }: AgentCaller, nowSec: number): boolean =>
  operatorExpiry !== null && nowSec >= operatorExpiry;

function notAnAgentKey(presented: Presented): Error {
  if (isForeignKey(presented)) return credentialErrors.invalidKey();
  const otherCredential =
    presented.kind === 'developer_key' ||
    presented.kind === 'client_secret' ||
    presented.kind === 'signature' ||
    presented.kind === 'session';
  if (otherCredential) return credentialErrors.wrongType();
  return presented.kind === 'malformed' ? credentialErrors.malformed() : credentialErrors.missing();
}

/**
 * Returns true for a Bearer without the three parts of a session. Such a text is a key that does not exist here, for example of
 * another vendor.
 */
const isForeignKey = (presented: Presented): boolean =>
  presented.kind === 'session' &&
  presented.via === 'bearer' &&
  presented.token.split('.').length !== 3;

/**
 * Compares the key before it counts a failure: a comparison costs next to nothing, and no stranger can lock the operator out.
 * The token for metrics opens routes of the credential `metrics` alone.
 */
function operator(
  { credentials, strangers }: Deps,
  credential: 'admin' | 'metrics',
  asking: Asking,
): Authenticated {
  const { headers } = asking.request;
  const key = headers.get('x-admin-key') ?? bearerToken(headers.get('authorization'));
  if (key !== undefined && credentials.isAdminKey(key)) return { caller: { kind: 'admin' } };
  if (credential === 'metrics' && key !== undefined && credentials.isMetricsToken(key)) {
    return { caller: { kind: 'metrics' } };
  }
  strangers.countFailure(asking);
  throw adminErrors.unauthorized(key === undefined ? 'missing' : 'wrong');
}

/** Admits a platform, whose token and signature the route checks within the limits of strangers. */
const platform = ({ strangers }: Deps, asking: Asking): Authenticated => ({
  caller: {
    kind: 'platform',
    attempt: (token, check) => strangers.attempt(asking, token, check),
  },
});

function checkSignature(
  credentials: Credentials,
  { wallet, signature, timestamp }: Extract<Presented, { kind: 'signature' }>,
): Promise<DeveloperCaller> {
  if (wallet === undefined || signature === undefined || timestamp === undefined) {
    throw credentialErrors.unauthorized(
      'Send X-Wallet-Address, X-Signature and X-Timestamp together.',
    );
  }
  return credentials.signature({ wallet, signature, timestamp });
}

/**
 * Throws the refusal of a writing request from another site. A browser sends cookies with other sites' requests too; the Origin
 * header names the site.
 */
function checkSameOrigin(
  { method, headers }: Asking['request'],
  publicUrl: string | undefined,
): void {
  const origin = headers.get('origin');
  if (READING.has(method) || origin === undefined) return;
  if (publicUrl !== undefined && origin === new URL(publicUrl).origin) return;
  const host = headers.get('host');
  if (host !== undefined && URL.canParse(origin) && new URL(origin).host === host) return;
  throw requestErrors.crossOrigin();
}
