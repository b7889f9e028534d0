/** A change after which every process drops cached entries, and closes open sockets where the kind says so. */
export type Invalidation =
  | { readonly kind: 'agent_key_revoked'; readonly agentId: number; readonly keyId: number }
  | { readonly kind: 'developer_key_revoked'; readonly keyId: number }
  /** Suspended or closed: drop the agent from caches, and close its open sockets. */
  | { readonly kind: 'agent_stopped'; readonly agentId: number }
  /** Provisioned, resumed, or given a key: drop the agent from caches; open sockets may go on. */
  | { readonly kind: 'agent_changed'; readonly agentId: number };

/** Notice to a subscriber. `everything`: notices may have been missed, so no cached entry can be trusted. */
export type Notice = Invalidation | { readonly kind: 'everything' };
