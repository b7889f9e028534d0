import { createStrangerGate, type StrangerGate } from '../../src/http/server/stranger-gate.ts';
import { type Clock, systemClock } from '../../src/kernel/clock.ts';
import { LIMITS } from '../../src/kernel/limits.ts';

/** The gate for strangers with the limits of production. */
export const strangersOf = (clock: Clock = systemClock): StrangerGate =>
  createStrangerGate(clock, {
    anonymous: LIMITS.anonymousRequests,
    failedCredentials: LIMITS.failedCredentials,
  });
