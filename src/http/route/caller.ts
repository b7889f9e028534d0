import type { AgentStatus } from '../../accounts/agents/agent.ts';
import type { Role } from '../../accounts/developers/role.ts';
import type { ClientSecretUse } from '../../accounts/keys/client-secrets.ts';
import type { PromptCaching } from '../../accounts/keys/key.ts';
import type { Spender } from '../../ledger/rules/requests.ts';

export type Permission = 'read' | 'read_write';

/** Developer who presented any management credential: the account, and the member who acts for it. */
export type DeveloperCaller = {
  readonly kind: 'developer';
  readonly via: 'developer_key' | 'signature' | 'session';
  readonly accountId: string;
  /** Address of the member in lower case: the signed-in wallet, or the wallet that issued the developer key. */
  readonly wallet: string;
  readonly role: Role;
  readonly keyId: number | null;
  readonly permission: Permission;
  /** Id of the sign-in that the session token comes from. */
  readonly sessionId?: string;
};

/** Rights that a short-lived key gives to the client that presents it. */
export type ClientSecretGrant = {
  readonly use: ClientSecretUse;
  /** Model that the client must use. Undefined when the client may name any model. */
  readonly model: string | undefined;
  /** Session as its maker wrote it. Checked when it was made, except a session that an upstream checks. */
  readonly session: unknown;
};

export type AgentCaller = {
  readonly kind: 'agent';
  readonly agentId: number;
  readonly accountId: string;
  /** Id of the agent's key; 0 when this server makes the request for the agent, within a call that no key has placed. */
  readonly keyId: number;
  /** First key of the key's line of rotations, whose budget the key spends. */
  readonly keyRootId: number;
  readonly permission: Permission;
  readonly promptCaching: PromptCaching;
  readonly status: AgentStatus;
  /** True when the agent had a balance when its key was read, at most 30 s ago. */
  readonly hasMoney?: boolean;
  /** Unix seconds at which the delegation ends; null without a delegation, as for every prepaid agent. */
  readonly operatorExpiry: number | null;
  /** Rights of the client secret that the caller presented in place of the agent's key. */
  readonly clientSecret?: ClientSecretGrant;
  /** The spender of the live call within which this server asks for the agent; it replaces key and headers. */
  readonly spender?: Spender;
};

export type AdminCaller = { readonly kind: 'admin' };
/** A collector of metrics, which may read them and do nothing else. */
export type MetricsCaller = { readonly kind: 'metrics' };
export type NoCaller = { readonly kind: 'none' };

/**
 * A carrier, which signs its whole request. The route checks the signature and calls `believe` when the signature is good: a
 * refusal before that call counts as a forgery at the network of the request.
 */
export class CarrierCaller {
  readonly kind = 'carrier';
  #isBelieved = false;

  get isBelieved(): boolean {
    return this.#isBelieved;
  }

  believe(): void {
    this.#isBelieved = true;
  }
}

/**
 * A voice platform, known by the token in its URL and by its signature. The route checks both within `attempt`, which limits
 * strangers by their network before the check and counts a check that throws 401 or 404.
 */
export type PlatformCaller = {
  readonly kind: 'platform';
  attempt<T>(token: string, check: () => Promise<T>): Promise<T>;
};

/** Callers that a route admits. `signature` is for the verify route alone: a fresh wallet signature. */
export type CallerOf = {
  none: NoCaller;
  management: DeveloperCaller;
  signature: DeveloperCaller;
  agent: AgentCaller;
  any: DeveloperCaller | AgentCaller;
  admin: AdminCaller;
  metrics: AdminCaller | MetricsCaller;
  carrier: CarrierCaller;
  platform: PlatformCaller;
};

export type Credential = keyof CallerOf;
export type Caller = CallerOf[Credential];
