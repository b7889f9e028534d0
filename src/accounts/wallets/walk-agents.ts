import type { Worker } from '../../kernel/schedule.ts';

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

/** The agents of one pass that there is something to do for, and behind which the next pass begins; 0 from the first. */
export type AgentPage<T> = { readonly found: readonly T[]; readonly nextAfter: number };
