import { PROVIDER_KEY_HEADER } from '../accounts/provider-keys/provider-key-header.ts';
import { CONFIG_LIMITS } from '../config/limits.ts';
import type { HeaderLine } from '../http/route/answer.ts';
import type { Caller } from '../http/route/caller.ts';
import { networkOf } from '../http/route/client-address.ts';
import type { Envelope } from '../http/route/render-error.ts';
import type { RateLimit } from '../http/route/route.ts';
import type { Clock } from '../kernel/clock.ts';
import { WEBHOOK_LIMITS } from '../webhooks/limits.ts';
import type { BucketSize } from './address-buckets.ts';
import type { RateLimitReason } from './errors.ts';
import { RATE_LIMITS } from './limits.ts';
import { type RateLimiter, rateHeaders } from './rate-limit.ts';
import { refusal } from './refuse.ts';
import { createFairShares, type LeastShares } from './server-shares.ts';
import type { SignInNetworks } from './sign-in-networks.ts';

export type RateLimits = {
  readonly developerKeyPerMinute: number;
  readonly gatewayPerMinute: number;
  readonly byokPerMinute: number;
  readonly agentProxyPerMinute: number;
  readonly ledgerSyncPerMinute: number;
  readonly agentControlPerMinute: number;
  readonly callerPerMinute: number;
  readonly ipPerMinute: number;
  readonly globalPerMinute: number;
  readonly leastShares: LeastShares;
  readonly anonymousRequests: BucketSize;
  readonly failedCredentials: BucketSize;
};

export const DEFAULT_RATE_LIMITS: RateLimits = {
  ...RATE_LIMITS.usual,
  agentProxyPerMinute: CONFIG_LIMITS.agentProxyPerMinute,
};

/** Fields of a request that the gate reads; routes and sockets both have them. */
export type RatedRequest = {
  readonly route: {
    readonly path: string;
    readonly rateLimit?: RateLimit | undefined;
    readonly providerKey?: 'optional' | 'required' | undefined;
    readonly credential: string;
    readonly envelope?: Envelope | undefined;
  };
  readonly clientAddress: () => string;
  readonly request?: { readonly headers: ReadonlyMap<string, string> };
};

export interface RateGate {
  /**
   * Takes the request's tokens and adds the rate headers to `earned`. Throws the 429 with its own rate headers. Undefined when
   * the decision needed no wait.
   */
  admit(request: RatedRequest, caller: Caller, earned: HeaderLine[]): Promise<void> | undefined;
  /**
   * Counts a request that was admitted as one with the caller's own provider key, but that the pool serves. Throws the 429. All
   * other requests were counted by `admit`.
   */
  admitPooled(request: RatedRequest, caller: Caller): Promise<void> | undefined;
}

type Bucket = {
  readonly name: string;
  readonly perMinute: number;
  readonly reason: RateLimitReason;
};

/**
 * Builds the rate-limit step: the route's own bucket first, so that its headers are sent either way, then the caller's share
 * of the server-wide limit of `/v1/*` (docs/decisions/0114). Each process counts its own shares, without a database call.
 */
export function createRateGate(
  {
    clock,
    limiter,
    serverLimiter,
    signIns,
    holdsProviderKeys = () => false,
  }: {
    readonly clock: Clock;
    readonly limiter: RateLimiter;
    readonly serverLimiter: RateLimiter;
    readonly signIns: SignInNetworks;
    readonly holdsProviderKeys?: HoldsProviderKeys | undefined;
  },
  limits: RateLimits,
): RateGate {
  const takeFairShare = createFairShares(clock, signIns, {
    perMinute: limits.globalPerMinute,
    leastShares: limits.leastShares,
  });

  const take = (
    request: RatedRequest,
    limiterOf: RateLimiter,
    bucket: Bucket,
    earned?: HeaderLine[],
  ) =>
    once(limiterOf.take(bucket.name, bucket.perMinute), (allowance) => {
      if (!allowance.allowed) throw refusal(bucket.reason, allowance, request.route.envelope);
      earned?.push(...rateHeaders(allowance));
    });

  /** Counts a request against the route's limit. A route without a limit has a share for each caller. */
  const takeOwn = (
    request: RatedRequest,
    caller: Caller,
    isOwnKey: boolean,
    earned: HeaderLine[],
  ) => {
    const bucket = isOwnKey ? byokBucket(caller, limits) : bucketOf(request, caller, limits);
    if (bucket !== undefined) return take(request, limiter, bucket, earned);
    const share = shareOf(caller, limits.callerPerMinute);
    return share && take(request, serverLimiter, share);
  };

  /** Returns true when a call may be paid with the caller's own provider key. */
  const mayUseOwnKey = ({ route, request }: RatedRequest, caller: Caller) => {
    if (route.providerKey === undefined || caller.kind !== 'agent') return false;
    const isBrought = request?.headers.has(PROVIDER_KEY_HEADER) === true;
    return isBrought || holdsProviderKeys(caller.accountId);
  };

  return {
    admit(request, caller, earned) {
      return once(mayUseOwnKey(request, caller), (isOwnKey) => {
        const own = takeOwn(request, caller, isOwnKey, earned);
        if (own !== undefined) return own.then(() => takeFairShare(request, caller, earned));
        takeFairShare(request, caller, earned);
        return undefined;
      });
    },
    admitPooled: (request, caller) =>
      once(mayUseOwnKey(request, caller), (isOwnKey) => {
        const bucket = isOwnKey ? bucketOf(request, caller, limits) : undefined;
        return bucket && take(request, limiter, bucket);
      }),
  };
}

/** Returns true when an account has provider keys that may pay its calls. */
export type HoldsProviderKeys = (accountId: string) => boolean | Promise<boolean>;

/** Runs `then` at once when the value is no promise. */
const once = <T>(
  value: T | Promise<T>,
  then: (value: T) => Promise<void> | undefined,
): Promise<void> | undefined => (value instanceof Promise ? value.then(then) : then(value));

/** A bucket that counts requests of one caller, and the kind of routes that take from it. */
export type CallerBucket = {
  readonly kind: Exclude<RateLimit, 'none' | 'ip'> | 'byok';
  readonly name: string;
  readonly perMinute: number;
};

const CALLER_KINDS = ['key', 'try', 'search', 'gateway', 'proxy', 'ledger', 'control'] as const;

/** Returns the buckets that requests of a caller take from. */
export function bucketsOfCaller(caller: Caller, limits: RateLimits): readonly CallerBucket[] {
  const buckets = CALLER_KINDS.map((kind) => {
    const route = { path: '', credential: '', rateLimit: kind };
    return [kind, bucketOf({ route, clientAddress: () => '' }, caller, limits)] as const;
  });
  return [...buckets, ['byok', byokBucket(caller, limits)] as const].flatMap(([kind, bucket]) =>
    bucket === undefined ? [] : [{ kind, name: bucket.name, perMinute: bucket.perMinute }],
  );
}

/** Returns the bucket of a request. Management routes count per developer key, or per account when there is no key. */
function bucketOf(request: RatedRequest, caller: Caller, limits: RateLimits): Bucket | undefined {
  const { rateLimit, credential } = request.route;
  switch (rateLimit ?? (credential === 'management' ? 'key' : 'none')) {
    case 'none':
      return undefined;
    case 'ip':
      return {
        name: `ip:${networkOf(request.clientAddress())}`,
        perMinute: limits.ipPerMinute,
        reason: 'ip_rate_limit',
      };
    case 'gateway':
      return agentBucket('gateway', caller, limits.gatewayPerMinute, 'gateway_limit');
    case 'proxy':
      return agentBucket('proxy', caller, limits.agentProxyPerMinute, 'agent_proxy_limit');
    case 'ledger':
      return agentBucket('ledger', caller, limits.ledgerSyncPerMinute, 'agent_ledger_limit');
    case 'control':
      return agentBucket('control', caller, limits.agentControlPerMinute, 'agent_control_limit');
    case 'try':
      if (caller.kind !== 'developer') return undefined;
      return {
        name: `try:${caller.accountId}`,
        perMinute: WEBHOOK_LIMITS.endpoint.triesPerMinute,
        reason: 'key_rate_limit',
      };
    case 'search':
      if (caller.kind !== 'developer') return undefined;
      return {
        name: `search:${caller.accountId}`,
        perMinute: RATE_LIMITS.numberSearchesPerMinute,
        reason: 'key_rate_limit',
      };
    case 'invite':
      if (caller.kind !== 'developer') return undefined;
      // Accounts are free: of each account the database counts the invites of a day.
      return {
        name: `invite:${networkOf(request.clientAddress())}`,
        perMinute: RATE_LIMITS.invitesPerMinute,
        reason: 'ip_rate_limit',
      };
    case 'key':
      if (caller.kind !== 'developer') return undefined;
      return {
        name:
          caller.keyId === null
            ? `account:${caller.accountId}:${caller.wallet}`
            : `key:${caller.keyId}`,
        perMinute: limits.developerKeyPerMinute,
        reason: 'key_rate_limit',
      };
  }
}

function shareOf(caller: Caller, perMinute: number): Bucket | undefined {
  switch (caller.kind) {
    case 'agent':
      return { name: `share:agent:${caller.agentId}`, perMinute, reason: 'agent_control_limit' };
    case 'developer':
      return { name: `share:account:${caller.accountId}`, perMinute, reason: 'key_rate_limit' };
    default:
      return undefined;
  }
}

const byokBucket = (caller: Caller, limits: RateLimits): Bucket | undefined =>
  agentBucket('byok', caller, limits.byokPerMinute, 'gateway_limit');

const agentBucket = (
  kind: string,
  caller: Caller,
  perMinute: number,
  reason: RateLimitReason,
): Bucket | undefined =>
  caller.kind === 'agent' ? { name: `${kind}:${caller.agentId}`, perMinute, reason } : undefined;
