import { createUpstreamPool, type UpstreamPool } from './upstream-pool.ts';
import { createPaidPool } from './x402/paid-pool.ts';

/** Opens the pool for one address of an upstream: over this server's account there, or paid call by call. */
export function openPool(deps: Parameters<typeof createUpstreamPool>[0]): UpstreamPool {
  const { baseUrl, paidCalls } = deps.upstream;
  if (paidCalls === undefined) return createUpstreamPool(deps);
  return createPaidPool({ ...deps, paidCalls, baseUrl });
}
