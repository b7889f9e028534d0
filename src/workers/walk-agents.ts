import type { AgentPage } from '../payouts/agent-page-store.ts';
import type { Worker } from './schedule.ts';

/**
 * Goes through all agents a page at a time, and does something for those that are found. One that fails is found again
 * by the next round; its failure is the worker's.
 */
export function walkAgents<T>(work: {
  readonly name: string;
  readonly everyMs: number;
  readonly find: (after: number) => Promise<AgentPage<T>>;
  readonly act: (found: T) => Promise<void>;
}): Worker {
  let after = 0;
  return {
    name: work.name,
    everyMs: work.everyMs,
    async tick() {
      const page = await work.find(after);
      // Before the work: one agent that cannot be helped must not keep the others waiting.
      after = page.nextAfter;
      const outcomes = await Promise.allSettled(page.found.map(work.act));
      for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    },
  };
}
