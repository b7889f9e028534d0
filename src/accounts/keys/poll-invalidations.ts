import { LIMITS } from '../../kernel/limits.ts';
import type { Worker } from '../../kernel/schedule.ts';
import type { Invalidations } from './invalidations.ts';

/** What other processes revoked, suspended or closed is forgotten here, each second. */
export const pollInvalidations = (deps: { readonly invalidations: Invalidations }): Worker => ({
  name: 'poll-invalidations',
  everyMs: LIMITS.invalidationPollMs,
  tick: () => deps.invalidations.tick(),
});
