import { LIMITS } from '../kernel/limits.ts';
import type { KeyUse } from '../keys/key-use.ts';
import type { Worker } from './schedule.ts';

/** When keys were last used is written in batches. */
export const flushKeyUse = (deps: { readonly keyUse: KeyUse }): Worker => ({
  name: 'flush-key-use',
  everyMs: LIMITS.keyUseFlushMs,
  tick: () => deps.keyUse.flush(),
});
