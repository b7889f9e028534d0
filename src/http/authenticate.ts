import { type Clock, nowSeconds } from '../kernel/clock.ts';
import { refuse } from '../kernel/refuse.ts';
import type { AgentCaller, Caller, Credential, DeveloperCaller, Permission } from './caller.ts';
import type { Credentials } from './credentials.ts';
import { bearerToken, type Presented, presentedCredential } from './presented-credential.ts';
import { sessionCookie } from './session-cookie.ts';

/** What a route demands of its caller. */
export type Demand = {
  readonly credential: Credential;
  readonly permission: Permission;
  readonly admitsClosed: boolean;
  /** Takes a client secret for the agent's key; routes never do. */
  readonly admitsClientSecrets?: boolean;
};

export type Authenticated = {
  readonly caller: Caller;
  /** A session past half of its life is renewed on the way. */
  readonly setCookie?: string;
};

export type Authenticate = (
  demand: Demand,
  request: { readonly method: string; readonly headers: ReadonlyMap<string, string> },
) => Authenticated | Promise<Authenticated>;

type Deps = {
  readonly credentials: Credentials;
  readonly clock: Clock;
  /** Session cookies carry `Secure`. */
  readonly secureCookies: boolean;
  /** The origin that cookies may write from besides the request's own host. */
  readonly publicUrl?: string | undefined;
};

const NOBODY: Authenticated = { caller: { kind: 'none' } };
const READING = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Builds the credential step: who calls, and whether this route is for them. Refusals are thrown. */
export function createAuthenticate(deps: Deps): Authenticate {
  const { credentials } = deps;
  const admitAgent = createAdmitAgent(deps);

  const developer = async (
    presented: Presented,
    request: Parameters<Authenticate>[1],
  ): Promise<Authenticated> => {
    switch (presented.kind) {
      case 'developer_key': {
        const caller = await credentials.developerKey(presented.key);
        if (caller === undefined) throw refuse.credential.invalidKey();
        return { caller };
      }
      case 'signature':
        return { caller: await checkSignature(credentials, presented) };
      case 'session': {
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
        throw refuse.credential.developerRequired();
      case 'malformed':
      case 'nothing':
        throw refuse.credential.unauthorized();
    }
  };

  return (demand, request) => {
    if (demand.credential === 'none') return NOBODY;
    if (demand.credential === 'admin') return admin(credentials, request.headers);

    const presented = presentedCredential(request.headers);
    if (demand.credential === 'agent' || presented.kind === 'agent_key') {
      if (demand.credential === 'agent' || demand.credential === 'any') {
        return admitAgent(demand, presented);
      }
    }
    if (demand.credential === 'signature' && presented.kind !== 'signature') {
      throw refuse.credential.unauthorized();
    }
    return developer(presented, request).then((found) => {
      requirePermission(demand, found.caller as DeveloperCaller);
      return found;
    });
  };
}

/** The agent half, which sockets use too: a key seen lately is admitted without waiting. */
export function createAdmitAgent({ credentials, clock }: Pick<Deps, 'credentials' | 'clock'>) {
  const admit = (demand: Demand, caller: AgentCaller | undefined): { caller: AgentCaller } => {
    if (caller === undefined) throw refuse.credential.invalidKey();
    if (caller.status === 'closed') {
      if (demand.admitsClosed) return { caller };
      throw refuse.credential.accountClosed();
    }
    if (caller.status === 'suspended') throw refuse.credential.agentSuspended();
    if (caller.status === 'pending_delegation') throw refuse.credential.agentNotReady();
    if (caller.operatorExpiry !== null && nowSeconds(clock) >= caller.operatorExpiry) {
      throw refuse.credential.delegationExpired();
    }
    requirePermission(demand, caller);
    return { caller };
  };

  const find = (demand: Demand, presented: Presented) => {
    if (presented.kind === 'client_secret' && demand.admitsClientSecrets) {
      return credentials.clientSecret(presented.secret);
    }
    if (presented.kind !== 'agent_key') throw notAnAgentKey(presented);
    return credentials.agentKey(presented.key);
  };

  return (
    demand: Demand,
    presented: Presented,
  ): { caller: AgentCaller } | Promise<{ caller: AgentCaller }> => {
    const found = find(demand, presented);
    if (found instanceof Promise) return found.then((caller) => admit(demand, caller));
    return admit(demand, found);
  };
}

function notAnAgentKey(presented: Presented): Error {
  const looksLikeSession =
    presented.kind === 'session' &&
    (presented.via === 'cookie' || presented.token.split('.').length === 3);
  const otherCredential =
    presented.kind === 'developer_key' ||
    presented.kind === 'client_secret' ||
    presented.kind === 'signature' ||
    looksLikeSession;
  return otherCredential ? refuse.credential.wrongType() : refuse.credential.missing();
}

function admin(credentials: Credentials, headers: ReadonlyMap<string, string>): Authenticated {
  const key = headers.get('x-admin-key') ?? bearerToken(headers.get('authorization'));
  if (key === undefined || !credentials.isAdminKey(key)) throw refuse.admin.unauthorized();
  return { caller: { kind: 'admin' } };
}

function checkSignature(
  credentials: Credentials,
  { wallet, signature, timestamp }: Extract<Presented, { kind: 'signature' }>,
): Promise<DeveloperCaller> {
  if (wallet === undefined || signature === undefined || timestamp === undefined) {
    throw refuse.credential.unauthorized(
      'Send X-Wallet-Address, X-Signature and X-Timestamp together.',
    );
  }
  return credentials.signature({ wallet, signature, timestamp });
}

function requirePermission(demand: Demand, caller: AgentCaller | DeveloperCaller): void {
  if (demand.permission === 'read_write' && caller.permission === 'read') {
    throw refuse.credential.readOnly();
  }
}

/** A browser sends cookies with other sites' requests too; its Origin header tells them apart. */
function checkSameOrigin(
  { method, headers }: Parameters<Authenticate>[1],
  publicUrl: string | undefined,
): void {
  const origin = headers.get('origin');
  if (READING.has(method) || origin === undefined) return;
  if (publicUrl !== undefined && origin === new URL(publicUrl).origin) return;
  const host = headers.get('host');
  if (host !== undefined && URL.canParse(origin) && new URL(origin).host === host) return;
  throw refuse.request.crossOrigin();
}
