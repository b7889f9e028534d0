/** A change after which every process drops cached entries and, for some kinds, closes open sockets. */
export type Invalidation =
  | { readonly kind: 'agent_key_revoked'; readonly agentId: number; readonly keyId: number }
  | { readonly kind: 'developer_key_revoked'; readonly keyId: number }
  /** An agent was suspended or closed: drop it from caches, and close its open sockets. */
  | { readonly kind: 'agent_stopped'; readonly agentId: number }
  /** An agent was provisioned, resumed or given a key: drop it from caches. Its open sockets may stay open. */
  | { readonly kind: 'agent_changed'; readonly agentId: number };

/** Notice to a subscriber. `everything`: notices may have been missed, so no cached entry can be trusted. */
export type Notice = Invalidation | { readonly kind: 'everything' };
