import { createStrangerGate, type StrangerGate } from '../../src/http/server/stranger-gate.ts';
import { type Clock, systemClock } from '../../src/kernel/clock.ts';
import { RATE_LIMITS } from '../../src/rate-limit/limits.ts';

/** The gate for strangers with the limits of production. */
export const strangersOf = (clock: Clock = systemClock): StrangerGate =>
  createStrangerGate(clock, {
    anonymous: RATE_LIMITS.usual.anonymousRequests,
    failedCredentials: RATE_LIMITS.usual.failedCredentials,
  });
