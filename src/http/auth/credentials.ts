import type { Role } from '../../accounts/developers/role.ts';
import type { AgentCaller, DeveloperCaller } from '../route/caller.ts';

/** Look-ups by which the edge identifies a caller. The secrets go no further than this interface. */
export interface Credentials {
  /** Returns the caller of a developer key. Undefined when the key is unknown, revoked or expired. */
  developerKey(key: string): Promise<DeveloperCaller | undefined>;
  /** Returns the agent of a key seen lately, from memory alone; a revoked key leaves memory within a second. */
  rememberedAgent(key: string): AgentCaller | undefined;
  /** Returns the agent from memory, as `rememberedAgent` does, or from the database. */
  agentKey(key: string): AgentCaller | undefined | Promise<AgentCaller | undefined>;
  /**
   * Returns the agent that made the secret. Undefined when the secret was not made here, or its key is no longer valid. Throws
   * when the secret has expired.
   */
  clientSecret(secret: string): AgentCaller | undefined | Promise<AgentCaller | undefined>;
  /**
   * Checks a wallet signature. Throws the refusal of the specification's developer-auth table, or a 503 when the chain is
   * needed and away.
   */
  signature(proof: {
    wallet: string;
    signature: string;
    timestamp: string;
  }): Promise<DeveloperCaller>;
  /**
   * Returns the developer of a session token, with a renewed token when the token is past half of its life. Throws `Invalid
   * JWT`.
   */
  session(token: string): Promise<{ caller: DeveloperCaller; renewedToken?: string }>;
  /** Returns the role of a wallet in an account. Undefined when the wallet is no member. */
  roleIn(accountId: string, wallet: string): Promise<Role | undefined>;
  isAdminKey(key: string): boolean;
  /** Returns true for the token that reads metrics and nothing else. */
  isMetricsToken(key: string): boolean;
}
