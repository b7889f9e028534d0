import type { Clock } from '../kernel/clock.ts';
import { RATE_LIMITS } from './limits.ts';
import { type Allowance, allowanceOf } from './rate-limit.ts';

/**
 * `perMinute`: requests per minute of all parties together. `least`: requests per minute that each party may send in any case.
 */
export type Shared = { readonly perMinute: number; readonly least: number };

type Party = { taken: number };

/**
 * Divides a number of requests a minute among parties. Until the whole number is taken, every party passes. From then on a
 * party is refused once it has taken its share: an equal part for each party of this minute, but at least `least`. So a party
 * that comes late passes, however much the other parties have taken.
 */
export class FairShares {
  readonly #clock: Clock;
  readonly #shared: Shared;
  readonly #parties = new Map<string, Party>();
  /** Number of parties in this minute. A party that was evicted and comes back counts twice. */
  #seen = 0;
  #taken = 0;
  #endsMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, shared: Shared) {
    this.#clock = clock;
    this.#shared = shared;
  }

  /**
   * Counts a request of a party and returns undefined. When all requests are taken and the party has had its share: counts
   * nothing and returns the refusal.
   */
  take(name: string): Allowance | undefined {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs >= this.#endsMs) this.#begin(nowMs);
    const party = this.#parties.get(name) ?? this.#add(name);
    const { least, perMinute } = this.#shared;
    if (this.#taken >= perMinute) {
      const share = Math.max(least, Math.floor(perMinute / this.#seen));
      if (party.taken >= share) {
        const leftMs = this.#endsMs - nowMs;
        return allowanceOf(this.#clock, { allowed: false, limit: share, remaining: 0, leftMs });
      }
    }
    this.#taken += 1;
    party.taken += 1;
    return undefined;
  }

  #begin(nowMs: number): void {
    this.#endsMs = nowMs + RATE_LIMITS.window.lifeMs;
    this.#parties.clear();
    this.#seen = 0;
    this.#taken = 0;
  }

  #add(name: string): Party {
    if (this.#parties.size >= RATE_LIMITS.addressesCounted) this.#parties.clear();
    const party = { taken: 0 };
    this.#parties.set(name, party);
    this.#seen += 1;
    return party;
  }
}
