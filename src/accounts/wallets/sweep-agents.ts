import type { Worker } from '../../kernel/schedule.ts';

/**
 * Creates a worker that goes through all agents page by page and acts on the agents that `find` returns. A failed agent is
 * found again by the next round; its failure fails the pass.
 */
export function sweepAgents<T>(work: {
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
      // The cursor moves before the work, so that one failing agent does not delay the others.
      after = page.nextAfter;
      const outcomes = await Promise.allSettled(page.found.map(work.act));
      for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    },
  };
}

/** Agents of one page that need work, and the agent id after which the next page begins. 0 begins with the first agent. */
export type AgentPage<T> = { readonly found: readonly T[]; readonly nextAfter: number };
