import { LIMITS } from '../kernel/limits.ts';
import type { Invalidations } from '../keys/invalidations.ts';
import type { Worker } from './schedule.ts';

/** What other processes revoked, suspended or closed is forgotten here, each second. */
export const pollInvalidations = (deps: { readonly invalidations: Invalidations }): Worker => ({
  name: 'poll-invalidations',
  everyMs: LIMITS.invalidationPollMs,
  tick: () => deps.invalidations.tick(),
});
