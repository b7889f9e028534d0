import { LIMITS } from '../../kernel/limits.ts';
import type { Worker } from '../../kernel/schedule.ts';
import type { KeyUse } from './key-use.ts';

/** When keys were last used is written in batches. */
export const flushKeyUse = (deps: { readonly keyUse: KeyUse }): Worker => ({
  name: 'flush-key-use',
  everyMs: LIMITS.keyUseFlushMs,
  tick: () => deps.keyUse.flush(),
});
