import { Resolver } from 'node:dns/promises';
import { type Asker, FairShares, type OPERATOR, takeFairly } from './fair-shares.ts';
import { EGRESS_LIMITS } from './limits.ts';

/** Returns all addresses of a host name, in the order of the attempts to connect. Rejects when there is none. */
export type ResolveHost = (
  host: string,
  asker: Asker | typeof OPERATOR,
) => Promise<readonly string[]>;

/**
 * Creates the look-up, which queries this machine's DNS servers for both families at once and lists IPv4 first. Does not use
 * `dns.lookup`, which waits in the few threads that files and compression share, while a caller chooses how slow a name is.
 */
export function createResolveHost(options: { readonly servers?: readonly string[] } = {}) {
  const resolver = new Resolver({
    timeout: EGRESS_LIMITS.dns.queryMs,
    tries: EGRESS_LIMITS.dns.tries,
  });
  if (options.servers !== undefined) resolver.setServers(options.servers);
  const shares = new FairShares(EGRESS_LIMITS.dns.underWay);

  const resolveHost: ResolveHost = async (host, asker) => {
    const giveBack = await takeFairly(asker, (hasMoney) => shares.take(asker, hasMoney));
    if (giveBack === undefined) throw new Error('too many lookups are under way');
    try {
      const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
      const found = answers.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
      if (found.length > 0) return found;
      throw answers.find((one) => one.status === 'rejected')?.reason ?? new Error('no address');
    } finally {
      giveBack();
    }
  };
  return resolveHost;
}
