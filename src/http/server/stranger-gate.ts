import { createHash } from 'node:crypto';
import { ApiError } from '../../kernel/api-error.ts';
import { type Clock, nowSeconds } from '../../kernel/clock.ts';
import { RecentMap } from '../../kernel/recent-map.ts';
import { AddressBuckets, type BucketSize } from '../../rate-limit/address-buckets.ts';
import { RATE_LIMITS } from '../../rate-limit/limits.ts';
import { refusal } from '../../rate-limit/refuse.ts';
import { networkOf } from '../route/client-address.ts';
import type { Envelope } from '../route/render-error.ts';

/** Fields of a request that the gate reads; routes and sockets both have them. */
export type GatedRequest = {
  readonly route: { readonly envelope?: Envelope | undefined };
  readonly clientAddress: () => string;
};

export type StrangerLimits = {
  /** Limit of the requests without a credential, for each client network. */
  readonly anonymous: BucketSize;
  /** Limit of the credentials that were checked and are not valid, for each client network. */
  readonly failedCredentials: BucketSize;
};

/**
 * Limits the cost of clients without a proven credential, by their network and before any work is done for a client. Requests
 * of known callers never come here, so that no stranger can cause their refusal.
 */
export interface StrangerGate {
  /** Takes a token for a request without a credential. Throws the 429 when the client's network has none left. */
  admitAnonymous(asked: GatedRequest): void;
  /**
   * Runs `check` for a credential that costs a query, a signature or a decryption. Throws the 429 without the check when the
   * client's network has failed too often lately. Only a failed check uses up its token, and a credential that was valid here
   * before is always checked.
   */
  attempt<T>(asked: GatedRequest, shown: string, check: () => Promise<T>): Promise<T>;
  /** Counts a credential that was checked and has failed. Throws the 429 in place of its refusal. */
  countFailure(asked: GatedRequest): void;
}

/** Builds the gate. It counts in this process alone, because it protects this process's time. */
export function createStrangerGate(clock: Clock, limits: StrangerLimits): StrangerGate {
  const anonymous = new AddressBuckets(clock, limits.anonymous);
  const failures = new AddressBuckets(clock, limits.failedCredentials);
  const proven = new RecentMap<string, true>(RATE_LIMITS.provenCredentials);

  const take = (buckets: AddressBuckets, asked: GatedRequest): string => {
    const network = networkOf(asked.clientAddress());
    const retryAfterSeconds = buckets.take(network);
    if (retryAfterSeconds > 0) {
      const resetAtSec = nowSeconds(clock) + retryAfterSeconds;
      const limit = { limit: buckets.perMinute, resetAtSec, retryAfterSeconds };
      throw refusal('ip_rate_limit', limit, asked.route.envelope);
    }
    return network;
  };

  return {
    admitAnonymous: (asked) => void take(anonymous, asked),
    countFailure: (asked) => void take(failures, asked),
    async attempt(asked, shown, check) {
      const mark = markOf(shown);
      const network = proven.get(mark) === undefined ? take(failures, asked) : undefined;
      const giveBack = () => {
        if (network !== undefined) failures.giveBack(network);
      };
      try {
        const found = await check();
        giveBack();
        proven.set(mark, true);
        return found;
      } catch (thrown) {
        if (!isUnproven(thrown)) giveBack();
        else if (thrown.status !== 503) proven.delete(mark);
        throw thrown;
      }
    },
  };
}

/** Returns the hash by which a credential is recognized, from which the credential cannot be read. */
const markOf = (shown: string): string => createHash('sha256').update(shown).digest('base64');

/**
 * Returns true when a failed check uses its token up. A 404 refuses a credential in the path. A 403 is about a known caller, and
 * a database that is away says nothing about the credential.
 */
const isUnproven = (thrown: unknown): thrown is ApiError =>
  thrown instanceof ApiError && [401, 404, 503].includes(thrown.status);
