import type { HeaderLine } from '../http/route/answer.ts';
import type { Caller } from '../http/route/caller.ts';
import { networkOf } from '../http/route/client-address.ts';
import type { Envelope } from '../http/route/render-error.ts';
import type { Clock } from '../kernel/clock.ts';
import { FairShares } from './fair-shares.ts';
import { isRateHeader } from './rate-limit.ts';
import { refusal } from './refuse.ts';
import type { SignInNetworks } from './sign-in-networks.ts';

/** Requests per minute to `/v1` that each party of a kind may send even when the kind as a whole exceeds `perMinute`. */
export type LeastShares = {
  readonly funded: number;
  readonly free: number;
  readonly anonymous: number;
};

type Counted = {
  readonly route: {
    readonly path: string;
    readonly credential: string;
    readonly envelope?: Envelope | undefined;
  };
  readonly clientAddress: () => string;
};

/** Returns true for the health probe of load balancers and orchestrators, which has no limit. */
export const isProbe = (path: string): boolean => path === '/v1/health';

/**
 * Builds the server-wide limit of `/v1/*`. Callers with money, callers without money and requests without a credential are
 * counted apart. A kind refuses a party only after all its parties have sent `perMinute` together and that party has had
 * more than its fair share. Each account is a party where callers have money, each network otherwise.
 */
export function createFairShares(
  clock: Clock,
  signIns: SignInNetworks,
  { perMinute, leastShares }: { readonly perMinute: number; readonly leastShares: LeastShares },
) {
  const funded = new FairShares(clock, { perMinute, least: leastShares.funded });
  const free = new FairShares(clock, { perMinute, least: leastShares.free });
  const anonymous = new FairShares(clock, { perMinute, least: leastShares.anonymous });

  const takeOf = (request: Counted, caller: Caller) => {
    if (caller.kind === 'agent' && caller.hasMoney === true) return funded.take(caller.accountId);
    const signedIn = 'accountId' in caller ? signIns.networkOf(caller.accountId) : undefined;
    const network = signedIn ?? networkOf(request.clientAddress());
    return (caller.kind === 'none' ? anonymous : free).take(network);
  };

  /**
   * Counts a request against the share of its caller. Throws the 429 when the share is used up; the headers of the 429 replace
   * the rate headers in `earned`.
   */
  return (request: Counted, caller: Caller, earned: HeaderLine[]): void => {
    const { path, credential, envelope } = request.route;
    // Not counted: requests of carriers and platforms, which are signed, health probes, and requests of the operator.
    const isSigned = credential === 'carrier' || credential === 'platform';
    const isShared = path.startsWith('/v1/') && !isProbe(path) && !isSigned;
    if (!isShared || caller.kind === 'admin') return;
    const beyond = takeOf(request, caller);
    if (beyond === undefined) return;
    earned.splice(0, Number.POSITIVE_INFINITY, ...earned.filter((line) => !isRateHeader(line)));
    throw refusal('global_rate_limit', beyond, envelope);
  };
}
