/**
 * Close frame of every socket that ends because the server stops, sent once the work under way is finished. Clients reconnect
 * after "service restart" and reach another server (RFC 6455, registry of close codes).
 */
export const DRAINING = { code: 1012, reason: 'server is shutting down' } as const;
