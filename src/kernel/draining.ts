/**
 * How a socket ends because its server does, once what was under way is finished: "service restart", at which clients
 * connect again and come to another server (RFC 6455, registry of close codes).
 */
export const DRAINING = { code: 1012, reason: 'server is shutting down' } as const;
