import type { Worker } from '../../../kernel/schedule.ts';
import type { CallDeps } from '../call-deps.ts';
import { findAskedToEnd } from './end-store.ts';

const EVERY_MS = 2_000;

/**
 * Ends the calls of this process whose hang-up another process was asked for. That one asks the carrier, which closes the
 * media stream; a carrier that fails leaves the stream open.
 */
export function endAskedCalls({ live, sql }: Pick<CallDeps, 'live' | 'sql'>): Worker {
  return {
    name: 'end-asked-calls',
    everyMs: EVERY_MS,
    async tick() {
      if (live.size === 0) return;
      for (const callId of await findAskedToEnd(sql, [...live.keys()])) {
        live.get(callId)?.end('agent_ended');
      }
    },
  };
}
